import { hash, randomFillSync, timingSafeEqual } from 'node:crypto'
import { crc32 } from 'node:zlib'

/** Source of randomness, injected like the clock. */
export type RandomBytes = (size: number) => Buffer

const POOL_BYTES = 16 * 1024
let pool = Buffer.alloc(0)
let used = 0

/** Draws from a pool, because one system call for many callers costs a fraction of one call each. */
export const randomBytes: RandomBytes = (size) => {
  if (size > POOL_BYTES) return randomFillSync(Buffer.allocUnsafe(size))
  if (used + size > pool.length) {
    // A new buffer each time, because returned bytes must never change.
    pool = randomFillSync(Buffer.allocUnsafe(POOL_BYTES))
    used = 0
  }
  used += size
  return pool.subarray(used - size, used)
}

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

function base62(random: RandomBytes, length: number): string {
  let text = ''
  while (text.length < length)
    for (const byte of random(length + 4)) {
      // 248 is the largest multiple of 62 in a byte. Larger bytes would favour the first letters.
      if (byte < 248 && text.length < length) text += BASE62[byte % 62]
    }
  return text
}

/** Sixteen characters after the prefix: 95 bits, so that ids do not collide and cannot be enumerated. */
export const ID_LENGTH = 16
export const newId = (random: RandomBytes, prefix: string): string => prefix + base62(random, ID_LENGTH)

/** The last digits of a number in base 62. */
function digits62(number: number, length: number): string {
  let digits = ''
  for (let rest = number; digits.length < length; rest = Math.floor(rest / 62))
    digits = BASE62[rest % 62] + digits
  return digits
}

/** Seven characters count milliseconds until the year 2081, and then start again. */
export const TIME_LENGTH = 7
export const timeText = (ms: number): string => digits62(ms, TIME_LENGTH)

/** Milliseconds of a time text; null if it is invalid. */
export function timeIn(text: string): number | null {
  let time = 0
  for (const character of text) {
    const digit = BASE62.indexOf(character)
    if (digit < 0) return null
    time = time * 62 + digit
  }
  return time
}

/**
 * Creates an id that sorts by time: rows created together are stored together in an index, so that few pages are written.
 * Twelve characters keep 71 random bits.
 */
export const newTimedId = (random: RandomBytes, prefix: string, now: number): string =>
  prefix + timeText(now) + base62(random, 12)

/**
 * Key of signatures that receivers verify. Letters and digits only, and at the same time base64 of 33 bytes, as required by
 * Standard Webhooks: it needs no escaping in shells and is found by secret scanners.
 */
const SIGNING_SECRET_LENGTH = 44
export const newSigningSecret = (random: RandomBytes, prefix: string): string =>
  prefix + base62(random, SIGNING_SECRET_LENGTH)

const CHECKSUM_LENGTH = 6

const checksum = (text: string): string => digits62(crc32(text), CHECKSUM_LENGTH)

/** A credential: prefix, routing part (may be empty), 256 random bits, checksum. */
export function newCredential(random: RandomBytes, prefix: string, routing = ''): string {
  const body = prefix + routing + random(32).toString('base64url')
  return body + checksum(body)
}

const RANDOM_LENGTH = 43

/** Returns the routing part of a well-formed credential, or null. The public checksum detects mistakes, not attackers. */
export function routingOf(credential: string, prefix: string, routingLength: number): string | null {
  const bodyLength = prefix.length + routingLength + RANDOM_LENGTH
  if (credential.length !== bodyLength + CHECKSUM_LENGTH || !credential.startsWith(prefix)) return null
  if (checksum(credential.slice(0, bodyLength)) !== credential.slice(bodyLength)) return null
  return credential.slice(prefix.length, prefix.length + routingLength)
}

/**
 * SHA-256: with 256 bits of entropy a slow hash adds no protection and would limit throughput. The result is text with one
 * character per byte, which costs a third of creating a buffer.
 */
export const sha256 = (secret: string): string => hash('sha256', secret, 'binary')
export const digestOf = (secret: string): Buffer => Buffer.from(sha256(secret), 'latin1')

export const sameDigest = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && timingSafeEqual(a, b)

export const last4 = (secret: string): string => secret.slice(-4)
