export { createFetch, type FetchOptions } from './create-fetch.ts'
export { JetonError, JetonUnavailable } from './errors.ts'
export type { ErrorKey } from './generated/error-keys.ts'
export type { Scope } from './generated/scopes.ts'
export { type CompletedRedemption, type ReportedRedemption, reportRedemption } from './report-redemption.ts'
export type { AccessToken } from './tokens/access-token.ts'
export type { KeyPair } from './tokens/request-token.ts'
export {
  createTokenSource,
  type TokenSource,
  type TokenSourceEvent,
  type TokenSourceOptions,
} from './tokens/token-source.ts'
export type { TokenStore } from './tokens/token-store.ts'
