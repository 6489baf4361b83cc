const WINDOW_MS = 60_000

/** Counts calls per key in fixed windows of a minute, in bounded memory. */
export class FixedWindows {
  readonly #windows = new Map<string, { ends: number; count: number }>()
  readonly #maxWindows: number

  /** Above `maxWindows` the oldest windows go first; they would have ended first. */
  constructor(maxWindows: number) {
    this.#maxWindows = maxWindows
  }

  /** Counts a call and returns the milliseconds to wait, or 0 within the limit. */
  count(key: string, limit: number, now: number): number {
    const window = this.#windows.get(key)
    if (window && window.ends > now) {
      window.count++
      return window.count > limit ? window.ends - now : 0
    }
    this.#windows.delete(key)
    if (this.#windows.size >= this.#maxWindows) this.#windows.delete(this.#windows.keys().next().value!)
    this.#windows.set(key, { ends: now + WINDOW_MS, count: 1 })
    return 0
  }
}
