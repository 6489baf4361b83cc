import { expect, test } from 'vitest'
import { ageText, clockTime, durationText, exactTime, tickText } from './time-text.ts'

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

const AT = new Date(2026, 0, 5, 14, 2, 9)

test('times have one format, whatever the language of the browser: date, then 24 hours', () => {
  expect(clockTime(AT.getTime())).toBe('2026-01-05 14:02:09')
  expect(clockTime(new Date().setHours(7, 8, 9))).toBe('07:08:09')
  expect(exactTime(AT.toISOString())).toBe(`2026-01-05 14:02:09 here\n${AT.toISOString()}`)
  expect(exactTime('soon')).toBe('soon')
})

test('ticks of a chart show the date where they are days apart, and at midnight, and seconds where they differ', () => {
  const midnight = new Date(2026, 0, 5).getTime()
  expect([tickText(AT.getTime(), 3_600), tickText(AT.getTime(), 86_400)]).toEqual(['14:02', '01-05'])
  expect(tickText(midnight, 3_600)).toBe('01-05')
  expect(tickText(AT.getTime(), 30)).toBe('14:02:09')
})
