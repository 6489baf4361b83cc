/** Most requests fit. */
const PLACE_BYTES = 8 * 1024
/** As many as are under way at a time. */
const KEPT = 512

/**
 * What requests are written into, one after the other: fetched anew for every send, memory costs more than what is done with it, and
 * the collector has to find it again.
 */
export class Places {
  readonly #free: Buffer[] = []

  take(length: number): Buffer {
    if (length > PLACE_BYTES) return Buffer.allocUnsafeSlow(length)
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(PLACE_BYTES)
  }

  /** Nobody reads it any more. */
  giveBack(place: Buffer): void {
    if (place.length === PLACE_BYTES && this.#free.length < KEPT) this.#free.push(place)
  }
}
