/** Time is handed in, never taken from the air, so that tests bring their own and never sleep. */
export interface Clock {
  /** Wall clock, epoch milliseconds. It may jump. */
  now(): number
  /** Milliseconds of a clock that never jumps; only differences mean anything. */
  monotonic(): number
  /** Resolves after `ms`, or at once (without an error) when the signal fires. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** Not by `node:timers/promises`, which makes an error with its stack whenever the signal fires: hundreds of times a second. */
const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const wake = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', wake)
      resolve()
    }
    const timer = setTimeout(wake, ms)
    // Who can be woken is background work, which keeps no process alive; who cannot is waited for, and the process with it.
    if (signal) timer.unref()
    signal?.addEventListener('abort', wake)
  })

export const systemClock: Clock = { now: Date.now, monotonic: () => performance.now(), sleep }
