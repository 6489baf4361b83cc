import { describe, expect, test } from 'vitest'
import { randomBytes } from '../../platform/secrets.ts'
import { type NextAttempt, nextAttempt, RETRY_DELAYS_MS } from './backoff.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const FIRST = Date.UTC(2026, 0, 15, 12)

const constant = (byte: number) => ({ random: (size: number) => Buffer.alloc(size, byte) })
const EARLIEST = constant(0)
const LATEST = constant(255)

const failed = (slot: number, more: { now?: number; retryAfterMs?: number | null } = {}) => ({
  firstAttemptAt: FIRST,
  slot,
  now: slot === 0 ? FIRST : FIRST + RETRY_DELAYS_MS[slot - 1]!,
  retryAfterMs: null,
  ...more,
})

describe('retry schedule', () => {
  test('the retry schedule has the twelve promised intervals', () => {
    const minutes = RETRY_DELAYS_MS.map((ms) => ms / MINUTE)
    expect(minutes).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 1440])
  })

  test('every retry is counted from the first attempt, plus at most 10 % of jitter', () => {
    for (const [slot, ms] of RETRY_DELAYS_MS.entries()) {
      expect(nextAttempt(EARLIEST, failed(slot))!.at).toBe(FIRST + ms)
      const latest = nextAttempt(LATEST, failed(slot))!
      expect(latest.at - FIRST).toBeLessThanOrEqual(ms * 1.1)
      for (let i = 0; i < 100; i++) {
        const { at: drawn } = nextAttempt({ random: randomBytes }, failed(slot)) as NextAttempt
        expect(drawn - FIRST).toBeGreaterThanOrEqual(ms)
        expect(drawn - FIRST).toBeLessThanOrEqual(ms * 1.1)
      }
    }
  })

  test('the retry schedule ends after the twelfth retry', () => {
    expect(nextAttempt(EARLIEST, failed(RETRY_DELAYS_MS.length))).toBeNull()
  })

  test('a slow attempt does not shift the retry schedule', () => {
    const now = FIRST + 76_000
    expect(nextAttempt(EARLIEST, failed(1, { now }))).toEqual({ slot: 2, at: FIRST + 2 * MINUTE })
  })

  test('retries that were missed while no worker ran are skipped', () => {
    const now = FIRST + 3 * HOUR
    expect(nextAttempt(EARLIEST, failed(1, { now }))).toEqual({ slot: 2, at: now + MINUTE })
  })
})

describe('Retry-After', () => {
  test('a Retry-After before the next retry changes nothing', () => {
    expect(nextAttempt(EARLIEST, failed(3, { retryAfterMs: MINUTE }))).toEqual({
      slot: 4,
      at: FIRST + 8 * MINUTE,
    })
  })

  test('Retry-After delays the next retry and skips the retries before it', () => {
    // Ten minutes requested after the first attempt: 1, 2, 4 and 8 have passed, so 16 is next.
    const next = nextAttempt(EARLIEST, failed(0, { retryAfterMs: 10 * MINUTE }))!
    expect(next).toEqual({ slot: 4, at: FIRST + 10 * MINUTE })
    expect(nextAttempt(EARLIEST, failed(next.slot, { now: next.at }))!.at).toBe(FIRST + 16 * MINUTE)
  })

  test('Retry-After is limited to one day, and after the last retry it makes one final attempt', () => {
    const next = nextAttempt(EARLIEST, failed(2, { retryAfterMs: 100 * HOUR }))!
    expect(next.at).toBe(FIRST + 2 * MINUTE + 24 * HOUR)
    expect(nextAttempt(EARLIEST, failed(next.slot, { now: next.at }))).toBeNull()
  })
})
