import type { Clock } from '../../platform/clock.ts'

/**
 * The store's time as this process knows it: what the store said at the latest look, and what has passed since on the
 * monotonic clock. It never goes back, whatever the clocks of machines do, so no token returns from expiry.
 */
export class StoreClock {
  readonly #clock: Clock
  /** Nothing is known before the first look. This machine's own clock may be an hour ahead, and that would stay. */
  #base = 0
  #baseMonotonic: number

  constructor(clock: Clock) {
    this.#clock = clock
    this.#baseMonotonic = clock.monotonic()
  }

  /** Whole milliseconds, as the store counts them; the monotonic clock has fractions. */
  now(): number {
    return Math.floor(this.#base + (this.#clock.monotonic() - this.#baseMonotonic))
  }

  /**
   * The store has just said this. It is at least as late now; how much later is not guessed, since processes follow each
   * other's issuing times as well, and guesses would add up.
   */
  follow(storeNow: number): void {
    const monotonic = this.#clock.monotonic()
    if (storeNow <= this.#base + (monotonic - this.#baseMonotonic)) return
    this.#base = storeNow
    this.#baseMonotonic = monotonic
  }
}
