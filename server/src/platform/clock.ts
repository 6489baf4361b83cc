/** Injected, so that tests use their own clock and never sleep. */
export interface Clock {
  /** Wall clock in epoch milliseconds. It may jump. */
  now(): number
  /** Monotonic milliseconds. Only differences are meaningful. */
  monotonic(): number
  /** Resolves after `ms`, or immediately (without an error) when the signal fires. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** Does not use `node:timers/promises`, which creates an error with a stack whenever the signal fires. */
const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const wake = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', wake)
      resolve()
    }
    const timer = setTimeout(wake, ms)
    // A sleep with a signal belongs to background work, which must not keep the process alive.
    if (signal) timer.unref()
    signal?.addEventListener('abort', wake)
  })

export const systemClock: Clock = { now: Date.now, monotonic: () => performance.now(), sleep }
