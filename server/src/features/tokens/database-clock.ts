import type { Clock } from '../../platform/clock.ts'

/**
 * Estimates the database's time: the time at the latest poll plus the monotonic time since. It never goes back, even if
 * clocks jump, so no expired token becomes active again.
 */
export class DatabaseClock {
  readonly #clock: Clock
  /** Zero before the first poll. The local clock is not used as a start value, because it may be an hour ahead. */
  #base = 0
  #baseMonotonic: number

  constructor(clock: Clock) {
    this.#clock = clock
    this.#baseMonotonic = clock.monotonic()
  }

  /** Whole milliseconds, like in the database. The monotonic clock has fractions. */
  now(): number {
    return Math.floor(this.#base + (this.#clock.monotonic() - this.#baseMonotonic))
  }

  /**
   * Advances to a time that the database has just reported. The transit time is not estimated: processes also follow each
   * other's issue times, so estimates would add up.
   */
  advanceTo(databaseNow: number): void {
    const monotonic = this.#clock.monotonic()
    if (databaseNow <= this.#base + (monotonic - this.#baseMonotonic)) return
    this.#base = databaseNow
    this.#baseMonotonic = monotonic
  }
}
