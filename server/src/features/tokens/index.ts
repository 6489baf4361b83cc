/** Tokens: issue, verify and revoke. Verifying never writes, and returns "active" only for a confirmed state. */
export {
  type AuthenticationDeps,
  authenticateKey,
  ipNotAllowed,
  keyBlocked,
  keyNotAccepted,
  tryAuthenticateKey,
} from './authenticate-key.ts'
export { type CachedKey, cachedKey, type EffectiveScopes } from './cached-key.ts'
export { ChangeFeed } from './change-feed.ts'
export { type Credential, readCredential } from './client-credentials.ts'
export { IssueBatcher } from './issue-batcher.ts'
export { removeOldTokens } from './janitor.worker.ts'
export { LastUsedTracker } from './last-used.ts'
export { oauthRoutes } from './oauth.routes.ts'
export { tokenRoutes } from './token.routes.ts'
export {
  countActiveTokens,
  countAllActiveTokens,
  findTokens,
  TOKENS_REVOKED,
} from './token.store.ts'
export { LIFETIME_MS, parseAccessToken, type TokenRow } from './token.ts'
export { TokenCache } from './token-cache.ts'
export { tryVerifyToken, type Verdict, verifyToken } from './verify-token.ts'
