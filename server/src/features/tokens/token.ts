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

/** What the store finds a token by. */
export interface TokenName {
  readonly projectId: string
  /** The time that the token names, then its SHA-256: what is issued together lies together, so that few pages are written. */
  readonly digest: Uint8Array
}

const TIME_BYTES = 6
export const DIGEST_BYTES = TIME_BYTES + 32

interface NewToken extends TokenName {
  readonly accessToken: string
  /** What memory finds it by. */
  readonly mapKey: string
}

/**
 * The routing part says where it lies: the project's id without its prefix, so that a store sharded by project need not
 * ask every shard, and the time. Of that nothing but the place depends, so any clock will do.
 */
export function newToken(random: RandomBytes, projectId: string, now: number): NewToken {
  const routing = projectId.slice(ID_PREFIX.project.length) + timeText(now)
  const accessToken = newCredential(random, CREDENTIAL_PREFIX.access_token, routing)
  const mapKey = mapKeyOf(accessToken)
  return { accessToken, projectId, mapKey, digest: digestAt(now, mapKey) }
}

/** The name of a well-formed token, or null: such a string never reaches the store. */
export function nameOfToken(accessToken: string): TokenName | null {
  const routing = routingOf(accessToken, CREDENTIAL_PREFIX.access_token, ID_LENGTH + TIME_LENGTH)
  const time = routing === null ? null : timeIn(routing.slice(ID_LENGTH))
  if (routing === null || time === null) return null
  return {
    projectId: ID_PREFIX.project + routing.slice(0, ID_LENGTH),
    digest: digestAt(time, mapKeyOf(accessToken)),
  }
}

const TIMES = 62 ** TIME_LENGTH

function digestAt(time: number, mapKey: string): Buffer {
  const digest = Buffer.allocUnsafe(DIGEST_BYTES)
  digest.writeUIntBE(time % TIMES, 0, TIME_BYTES)
  digest.write(mapKey, TIME_BYTES, 'latin1')
  return digest
}

/** A token as the key of a Map: its SHA-256 alone. */
export const mapKeyOf = sha256
export const mapKeyOfDigest = ({ buffer, byteOffset, length }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset + TIME_BYTES, length - TIME_BYTES).toString('latin1')

/** `expires_at` is the whole second of issuing and 900. */
export const expiryOf = (issuedAtMs: number): number =>
  Math.floor(issuedAtMs / SECOND_MS) * SECOND_MS + LIFETIME_MS

/** The first second at which something that is active now can expire. */
export const secondAfter = (ms: number): number => Math.floor(ms / SECOND_MS) * SECOND_MS + SECOND_MS

/** What is left, rounded up: an active token always has at least one second. */
export const secondsLeft = (expiresAtMs: number, nowMs: number): number =>
  Math.ceil((expiresAtMs - nowMs) / SECOND_MS)

/** `Retry-After` of a full project or key: at least a second, since a caller that comes back at once would find nothing changed. */
export const secondsUntilFree = (freeAtMs: number, nowMs: number): number =>
  Math.max(1, secondsLeft(freeAtMs, nowMs))

/** The digests that a token id stands for: from this one up to, not including, that one. Null where it is no token id. */
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
