/** Of an answer. More is neither read nor waited for: the connection is closed. */
export const BODY_MAX_BYTES = 16 * 1024

/** The beginning of an answer's body, in bounded memory however it comes. */
export class AnswerBody {
  #bytes: Buffer | null = null
  /** Of those that came; more than are kept once there was too much. */
  received = 0

  get isTooLong(): boolean {
    return this.received > BODY_MAX_BYTES
  }

  /** The chunk is the caller's again afterwards. */
  add(chunk: Buffer): void {
    if (this.#bytes === null) this.#bytes = Buffer.from(chunk.subarray(0, BODY_MAX_BYTES + 1))
    else {
      // One buffer from the second piece on: an answer in a thousand pieces must not cost a thousand buffers.
      if (this.#bytes.length < BODY_MAX_BYTES) this.#bytes = roomy(this.#bytes)
      chunk.copy(this.#bytes, this.received)
    }
    this.received += chunk.length
  }

  text(): string {
    if (this.#bytes === null) return ''
    const kept = this.#bytes.subarray(0, Math.min(this.received, BODY_MAX_BYTES))
    // A character that the cut goes through is left out.
    const text = this.isTooLong ? new TextDecoder().decode(kept, { stream: true }) : kept.toString('utf8')
    // A NUL cannot be stored as text everywhere.
    return text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text
  }
}

function roomy(start: Buffer): Buffer {
  const whole = Buffer.allocUnsafe(BODY_MAX_BYTES)
  start.copy(whole)
  return whole
}
