import { CREDENTIAL_PREFIX, ID_PREFIX } from '../../contract/ids.ts'
import { TOKEN_LIFETIME_SECONDS } from '../../contract/limits.ts'
import { ID_LENGTH, newCredential, type RandomBytes, routingOf } from '../../platform/secrets.ts'

export const LIFETIME_MS = TOKEN_LIFETIME_SECONDS * 1000

/** The routing part is the project's id without its prefix: a store sharded by project finds a token without asking every shard. */
export const newAccessToken = (random: RandomBytes, projectId: string): string =>
  newCredential(random, CREDENTIAL_PREFIX.access_token, projectId.slice(ID_PREFIX.project.length))

/** The project that a well-formed token names, or null: such a string never reaches the store. */
export function projectOfToken(accessToken: string): string | null {
  const routing = routingOf(accessToken, CREDENTIAL_PREFIX.access_token, ID_LENGTH)
  return routing === null ? null : ID_PREFIX.project + routing
}

/** `expires_at` is the whole second of issuing and 900. */
export const expiryOf = (issuedAtMs: number): number => Math.floor(issuedAtMs / 1000) * 1000 + LIFETIME_MS

/** What is left, rounded up: an active token always has at least one second. */
export const secondsLeft = (expiresAtMs: number, nowMs: number): number =>
  Math.ceil((expiresAtMs - nowMs) / 1000)

/** `Retry-After` of a full project or key: at least a second, since a caller that comes back at once would find nothing changed. */
export const secondsUntilFree = (freeAtMs: number, nowMs: number): number =>
  Math.max(1, secondsLeft(freeAtMs, nowMs))

/** The digests that a token id stands for: from this one up to, not including, that one. Null where it is no token id. */
export function digestRange(tokenId: string): { from: Buffer; to: Buffer } | null {
  const hex = tokenId.startsWith(ID_PREFIX.token) ? tokenId.slice(ID_PREFIX.token.length) : ''
  if (!/^[0-9a-f]{24}$/.test(hex)) return null
  const first = Buffer.alloc(32)
  first.write(hex, 'hex')
  const last = Buffer.alloc(32, 0xff)
  last.write(hex, 'hex')
  return { from: first, to: last }
}
