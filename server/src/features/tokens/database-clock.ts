import type { Clock } from '../../platform/clock.ts'

/**
 * The database's time as this process knows it: what the database said at the latest poll, plus what has passed since on the
 * monotonic clock. It never goes back, whatever the clocks of machines do, so no expired token becomes active again.
 */
export class DatabaseClock {
  readonly #clock: Clock
  /** Unknown before the first poll. The clock of this machine may be an hour ahead, and that error would stay. */
  #base = 0
  #baseMonotonic: number

  constructor(clock: Clock) {
    this.#clock = clock
    this.#baseMonotonic = clock.monotonic()
  }

  /** Whole milliseconds, as the database counts them; the monotonic clock has fractions. */
  now(): number {
    return Math.floor(this.#base + (this.#clock.monotonic() - this.#baseMonotonic))
  }

  /**
   * Takes a time that the database has just reported. The transit time is not estimated: processes also follow each other's
   * issuing times, and estimates would add up.
   */
  advanceTo(databaseNow: number): void {
    const monotonic = this.#clock.monotonic()
    if (databaseNow <= this.#base + (monotonic - this.#baseMonotonic)) return
    this.#base = databaseNow
    this.#baseMonotonic = monotonic
  }
}
