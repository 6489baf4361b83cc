import type { Clock } from '../../platform/clock.ts'

/** The time of this machine plus what a test has added. Moving it wakes everything that has become due. */
export class MovableClock implements Clock {
  #aheadMs = 0
  readonly #sleepers = new Set<{ readonly due: number; wake(): void }>()

  now = (): number => Date.now() + this.#aheadMs
  monotonic = (): number => performance.now() + this.#aheadMs

  sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      const wake = () => {
        clearTimeout(timer)
        this.#sleepers.delete(sleeper)
        signal?.removeEventListener('abort', wake)
        resolve()
      }
      const timer = setTimeout(wake, ms)
      // As with the system clock, a sleep with a signal does not keep the process alive.
      if (signal) timer.unref()
      const sleeper = { due: this.monotonic() + ms, wake }
      this.#sleepers.add(sleeper)
      signal?.addEventListener('abort', wake)
    })

  move(ms: number): void {
    if (!(ms >= 0)) throw new RangeError('The clock only moves forward.')
    this.#aheadMs += ms
    const now = this.monotonic()
    for (const sleeper of this.#sleepers) if (sleeper.due <= now) sleeper.wake()
  }
}
