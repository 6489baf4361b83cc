import type { RandomBytes } from '../../platform/secrets.ts'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

/** 1, 2, 4 … 1024 minutes and 24 hours after the first attempt. */
export const RETRY_DELAYS_MS: readonly number[] = [
  ...Array.from({ length: 11 }, (_, i) => 2 ** i * MINUTE_MS),
  DAY_MS,
]

/** Limit for the delay that a receiver can request. */
const MAX_RETRY_AFTER_MS = DAY_MS
/** Spreads retries of receivers that failed at the same time. */
const JITTER = 0.1
/** After an outage of Jeton, missed retries are skipped instead of sent in a burst. */
const MIN_DELAY_WHEN_LATE_MS = MINUTE_MS

interface Failure {
  readonly firstAttemptAt: number
  /** Slots used up so far. */
  readonly slot: number
  readonly now: number
  /** Delay that the receiver requested, or null. */
  readonly retryAfterMs: number | null
}

export interface NextAttempt {
  readonly slot: number
  readonly at: number
}

/** Between 0 and 1, never 1. */
const chance = (random: RandomBytes): number => random(4).readUInt32LE() / 2 ** 32

/** Time of the next attempt after a failure; null if all retries are used up. */
export function nextAttempt(
  { random }: { random: RandomBytes },
  { firstAttemptAt, slot, now, retryAfterMs }: Failure,
): NextAttempt | null {
  if (slot >= RETRY_DELAYS_MS.length) return null
  const due = firstAttemptAt + Math.round(RETRY_DELAYS_MS[slot]! * (1 + JITTER * chance(random)))
  const regular = { slot: slot + 1, at: due > now ? due : now + MIN_DELAY_WHEN_LATE_MS }
  if (retryAfterMs === null) return regular
  const asked = now + Math.min(retryAfterMs, MAX_RETRY_AFTER_MS)
  const later = RETRY_DELAYS_MS.findIndex((ms, i) => i >= slot && firstAttemptAt + ms > asked)
  if (later === slot) return regular
  // The requested time replaces the retries that it passes.
  return { slot: later === -1 ? RETRY_DELAYS_MS.length : later, at: asked }
}
