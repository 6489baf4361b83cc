/** Limit for a response body. The rest is not read: the connection is closed. */
export const MAX_BODY_BYTES = 16 * 1024

/** Keeps the beginning of a response body in bounded memory. */
export class LimitedBody {
  #bytes: Buffer | null = null
  /** Bytes that arrived, which may be more than are kept. */
  received = 0

  get isTooLong(): boolean {
    return this.received > MAX_BODY_BYTES
  }

  add(chunk: Buffer): void {
    if (this.#bytes === null) this.#bytes = Buffer.from(chunk.subarray(0, MAX_BODY_BYTES + 1))
    else {
      // One buffer from the second chunk on, so that a thousand chunks do not cost a thousand buffers.
      if (this.#bytes.length < MAX_BODY_BYTES) this.#bytes = grow(this.#bytes)
      chunk.copy(this.#bytes, this.received)
    }
    this.received += chunk.length
  }

  text(): string {
    if (this.#bytes === null) return ''
    const kept = this.#bytes.subarray(0, Math.min(this.received, MAX_BODY_BYTES))
    // Decoding as a stream drops a character that is cut in two by the limit.
    const text = this.isTooLong ? new TextDecoder().decode(kept, { stream: true }) : kept.toString('utf8')
    // PostgreSQL cannot store a NUL as text.
    return text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text
  }
}

function grow(start: Buffer): Buffer {
  const whole = Buffer.allocUnsafe(MAX_BODY_BYTES)
  start.copy(whole)
  return whole
}
