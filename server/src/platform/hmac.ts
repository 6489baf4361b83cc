import { hash } from 'node:crypto'

const BLOCK_BYTES = 64
const DIGEST_BYTES = 32

/** HMAC-SHA-256 (RFC 2104) with one key. */
export interface HmacKey {
  /** A block, before what is signed. */
  readonly inner: Uint8Array
  /** A block, and room for the hash of that. */
  readonly outer: Buffer
}

export function hmacKey(secret: Buffer): HmacKey {
  const key = secret.length > BLOCK_BYTES ? hash('sha256', secret, 'buffer') : secret
  const inner = Buffer.alloc(BLOCK_BYTES)
  key.copy(inner)
  const outer = Buffer.alloc(BLOCK_BYTES + DIGEST_BYTES)
  inner.copy(outer)
  for (let i = 0; i < BLOCK_BYTES; i++) {
    inner[i]! ^= 0x36
    outer[i]! ^= 0x5c
  }
  return { inner, outer }
}

/** Before what is signed there must be room for the longest text that may stand there, and for a block. */
const BEFORE_BYTES = 256
/** Longer bodies get a place of their own. */
const PLACE_BYTES = 16 * 1024
const usual = Buffer.allocUnsafeSlow(BEFORE_BYTES + PLACE_BYTES)

/**
 * Signs one body with any number of keys. By plain hashes in a place that is used again: `createHmac` takes twice as long, half of
 * it for an object that the collector has to find.
 */
export class Signable {
  readonly #place: Buffer
  readonly #end: number

  /** To be used at once: the next one may be in the same place. */
  constructor(body: Uint8Array) {
    this.#end = BEFORE_BYTES + body.length
    this.#place = body.length <= PLACE_BYTES ? usual : Buffer.allocUnsafeSlow(this.#end)
    this.#place.set(body, BEFORE_BYTES)
  }

  /** Of the body behind a text, which is one character a byte. */
  hmac({ inner, outer }: HmacKey, before: string, encoding: 'hex' | 'base64'): string {
    const start = BEFORE_BYTES - before.length - BLOCK_BYTES
    if (start < 0) throw new RangeError('too long to stand before what is signed')
    this.#place.set(inner, start)
    this.#place.write(before, start + BLOCK_BYTES, 'latin1')
    outer.write(hash('sha256', this.#place.subarray(start, this.#end), 'binary'), BLOCK_BYTES, 'latin1')
    return hash('sha256', outer, encoding)
  }
}
