import { setImmediate as turn } from 'node:timers/promises'
import type { Clock } from '../src/platform/clock.ts'

interface Sleeper {
  readonly due: number
  wake(): void
}

/** Time that stands still until the test moves it. */
export class TestClock implements Clock {
  #wall: number
  #monotonic = 1_000
  #sleepers: Sleeper[] = []

  constructor(startsAt: number = Date.UTC(2026, 0, 15, 12)) {
    this.#wall = startsAt
  }

  now = (): number => this.#wall
  monotonic = (): number => this.#monotonic

  sleep = (ms: number, signal?: AbortSignal): Promise<void> => {
    if (signal?.aborted || ms <= 0) return Promise.resolve()
    return new Promise((resolve) => {
      const sleeper = { due: this.#monotonic + ms, wake: resolve }
      this.#sleepers.push(sleeper)
      signal?.addEventListener('abort', () => {
        this.#sleepers = this.#sleepers.filter((one) => one !== sleeper)
        resolve()
      })
    })
  }

  /** How many sleep now: a test can wait until a worker has gone to sleep before it moves the time. */
  get sleeping(): number {
    return this.#sleepers.length
  }

  /** Moves both clocks. Sleepers wake in order, each at its own time, and may sleep again before the next one wakes. */
  async advance(ms: number): Promise<void> {
    const end = this.#monotonic + ms
    for (let next = this.#nextDue(end); next; next = this.#nextDue(end)) {
      this.#moveTo(next.due)
      this.#sleepers = this.#sleepers.filter((one) => one !== next)
      next.wake()
      await turn()
    }
    this.#moveTo(end)
    await turn()
  }

  /** Moves both clocks at once, as if the machine had been suspended. Every sleeper that is due wakes once. */
  async skip(ms: number): Promise<void> {
    this.#moveTo(this.#monotonic + ms)
    const due = this.#sleepers.filter((one) => one.due <= this.#monotonic)
    this.#sleepers = this.#sleepers.filter((one) => !due.includes(one))
    for (const one of due) one.wake()
    await turn()
  }

  /** The wall clock jumps, as when someone sets it; the monotonic one does not notice. */
  setNow(ms: number): void {
    this.#wall = ms
  }

  #moveTo(monotonic: number): void {
    this.#wall += monotonic - this.#monotonic
    this.#monotonic = monotonic
  }

  #nextDue(end: number): Sleeper | undefined {
    const due = this.#sleepers.filter((one) => one.due <= end)
    return due.reduce<Sleeper | undefined>(
      (first, one) => (first && first.due <= one.due ? first : one),
      undefined,
    )
  }
}
