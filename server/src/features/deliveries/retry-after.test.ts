import { expect, test } from 'vitest'
import { retryAfterMs } from './retry-after.ts'

const NOW = Date.UTC(2026, 0, 15, 12)

test.each([
  ['0', 0],
  ['120', 120_000],
  [' 120 ', 120_000],
  ['Thu, 15 Jan 2026 12:02:00 GMT', 120_000],
  ['Thursday, 15-Jan-26 12:02:00 GMT', 120_000],
  ['Thu, 15 Jan 2026 11:00:00 GMT', 0],
  [null, null],
  ['', null],
  ['-5', null],
  ['1.5', null],
  ['soon', null],
  ['1e9', null],
  ['2026', 2_026_000],
  ['2026-01-15T12:02:00Z', null],
  ['Thu, 99 Jan 2026 12:02:00 GMT', null],
])('%j', (header, ms) => expect(retryAfterMs(header, NOW)).toBe(ms))
