/** Tokens: issued, judged, revoked, exactly. A verdict never writes, and it never says active when it cannot know. */
export { type AuthenticationDeps, addressRefused, authenticateKey, KeyUses } from './authenticate-key.ts'
export { type Presented, presentedCredential } from './client-credentials.ts'
export { TokenIssuer } from './issue-tokens.ts'
export { removeOldTokens } from './janitor.worker.ts'
export { type KnownKey, knownKey, type Rights } from './known-key.ts'
export { Memory } from './memory.ts'
export { oauthRoutes } from './oauth.routes.ts'
export { tokenRoutes } from './token.routes.ts'
export {
  countActiveTokens,
  countAllActiveTokens,
  findTokens,
  TOKENS_REVOKED,
  type TokenRow,
} from './token.store.ts'
export { nameOfToken } from './token.ts'
export { type Verdict, verdictOf } from './verdict.ts'
