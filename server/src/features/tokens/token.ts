import { CREDENTIAL_PREFIX, ID_PREFIX } from '../../contract/ids.ts'
import { TOKEN_LIFETIME_SECONDS } from '../../contract/limits.ts'
import {
  ID_LENGTH,
  newCredential,
  type RandomBytes,
  routingOf,
  sha256,
  TIME_LENGTH,
  timeIn,
  timeText,
} from '../../platform/secrets.ts'

export const SECOND_MS = 1000
export const LIFETIME_MS = TOKEN_LIFETIME_SECONDS * SECOND_MS

/** Where a token is stored: its project and its digest. */
export interface TokenLocator {
  readonly projectId: string
  /** Issue time of the token, then its SHA-256. Tokens issued together are stored together, so that few pages are written. */
  readonly digest: Uint8Array
}

const TIME_BYTES = 6
export const DIGEST_BYTES = TIME_BYTES + 32

interface NewToken extends TokenLocator {
  readonly accessToken: string
  readonly cacheKey: string
}

/**
 * Creates a token. Its routing part contains the project id without prefix, so that a store sharded by project can find its
 * shard, and the time. The time only determines the position in the index, so any clock will do.
 */
export function newToken(random: RandomBytes, projectId: string, now: number): NewToken {
  const routing = projectId.slice(ID_PREFIX.project.length) + timeText(now)
  const accessToken = newCredential(random, CREDENTIAL_PREFIX.access_token, routing)
  const cacheKey = cacheKeyOf(accessToken)
  return { accessToken, projectId, cacheKey, digest: digestAt(now, cacheKey) }
}

/** Parses a token. Returns null for a malformed one, which therefore never reaches the store. */
export function parseAccessToken(accessToken: string): TokenLocator | null {
  const routing = routingOf(accessToken, CREDENTIAL_PREFIX.access_token, ID_LENGTH + TIME_LENGTH)
  const time = routing === null ? null : timeIn(routing.slice(ID_LENGTH))
  if (routing === null || time === null) return null
  return {
    projectId: ID_PREFIX.project + routing.slice(0, ID_LENGTH),
    digest: digestAt(time, cacheKeyOf(accessToken)),
  }
}

const TIMES = 62 ** TIME_LENGTH

function digestAt(time: number, cacheKey: string): Buffer {
  const digest = Buffer.allocUnsafe(DIGEST_BYTES)
  digest.writeUIntBE(time % TIMES, 0, TIME_BYTES)
  digest.write(cacheKey, TIME_BYTES, 'latin1')
  return digest
}

/** Key of a token in the cache: its SHA-256 without the time. */
export const cacheKeyOf = sha256
export const cacheKeyOfDigest = ({ buffer, byteOffset, length }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset + TIME_BYTES, length - TIME_BYTES).toString('latin1')

/** `expires_at`: the second of issuing plus 900. */
export const expiryOf = (issuedAtMs: number): number =>
  Math.floor(issuedAtMs / SECOND_MS) * SECOND_MS + LIFETIME_MS

/** First second in which a token that is active now can expire. */
export const secondAfter = (ms: number): number => Math.floor(ms / SECOND_MS) * SECOND_MS + SECOND_MS

/** Remaining seconds, rounded up: an active token has at least one. */
export const secondsLeft = (expiresAtMs: number, nowMs: number): number =>
  Math.ceil((expiresAtMs - nowMs) / SECOND_MS)

/** `Retry-After` of a full project or key. At least one second, because an immediate retry would change nothing. */
export const secondsUntilFree = (freeAtMs: number, nowMs: number): number =>
  Math.max(1, secondsLeft(freeAtMs, nowMs))

/** Range of digests that start with a token id, without its end; null for an invalid token id. */
export function digestRange(tokenId: string): { from: Buffer; to: Buffer } | null {
  const hex = tokenId.startsWith(ID_PREFIX.token) ? tokenId.slice(ID_PREFIX.token.length) : ''
  if (!/^[0-9a-f]{24}$/.test(hex)) return null
  const first = Buffer.alloc(DIGEST_BYTES)
  first.write(hex, 'hex')
  const last = Buffer.alloc(DIGEST_BYTES, 0xff)
  last.write(hex, 'hex')
  return { from: first, to: last }
}

export interface TokenRow {
  project_id: string
  digest: Uint8Array
  key_id: string
  epoch: number
  scope: string
  expires_at: number
  revoked_at: number | null
}
