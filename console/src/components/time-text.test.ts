import { expect, test } from 'vitest'
import { ageText, durationText } from './time-text.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

test.each([
  [0, '0 s'],
  [59 * SECOND, '59 s'],
  [72 * SECOND, '1 min 12 s'],
  [3 * HOUR + 12 * MINUTE + 5 * SECOND, '3 h 12 min'],
  [2 * 24 * HOUR, '2 d'],
  [24 * HOUR + 5 * SECOND, '1 d'],
  [-5 * SECOND, '0 s'],
])('a duration has at most two neighbouring units: %i is %s', (milliseconds, text) => {
  expect(durationText(milliseconds)).toBe(text)
})

test.each([
  [0, 'now'],
  [-2 * SECOND, 'now'],
  [5 * SECOND, '5 s ago'],
  [119 * SECOND, '1 min ago'],
  [-4 * SECOND, 'in 4 s'],
  [-25 * HOUR, 'in 1 d'],
])('an age has one unit: %i ms ago is "%s"', (age, text) => {
  const now = Date.now()
  expect(ageText(now - age, now)).toBe(text)
})
