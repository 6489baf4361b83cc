import { setTimeout as wait } from 'node:timers/promises'

/** Time is handed in, never taken from the air, so that tests bring their own and never sleep. */
export interface Clock {
  /** Wall clock, epoch milliseconds. It may jump. */
  now(): number
  /** Milliseconds of a clock that never jumps; only differences mean anything. */
  monotonic(): number
  /** Resolves after `ms`, or at once (without an error) when the signal fires. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  now: Date.now,
  monotonic: () => performance.now(),
  // Who can be woken is background work, which keeps no process alive; who cannot is waited for, and the process with it.
  sleep: (ms, signal) => wait(ms, undefined, signal && { signal, ref: false }).catch(() => undefined),
}
