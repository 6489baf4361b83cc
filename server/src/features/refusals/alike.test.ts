import { expect, test } from 'vitest'
import { ALIKE_AT_ONCE, Alike } from './alike.ts'

const DAY_MS = 24 * 60 * 60_000

const recorded = (alike: Alike, kind: string, times: number, now: number) =>
  Array.from({ length: times }, () => alike.isWorthAPlace(kind, now)).filter(Boolean).length

test('a hundred alike are on record at once, then one each ten seconds, and again a hundred after a pause', () => {
  const alike = new Alike()
  expect(recorded(alike, 'full', 5_000, 0)).toBe(ALIKE_AT_ONCE)
  expect(recorded(alike, 'full', 5_000, 9_999)).toBe(0)
  expect(recorded(alike, 'full', 5_000, 10_000)).toBe(1)
  expect(recorded(alike, 'full', 5_000, 35_000)).toBe(2)
  expect(recorded(alike, 'full', 5_000, DAY_MS)).toBe(ALIKE_AT_ONCE)
})

test('one kind takes nothing from another, and a day of it leaves room in the 10,000 of a project', () => {
  const alike = new Alike()
  let total = 0
  for (let now = 0; now < DAY_MS; now += 5_000) total += recorded(alike, 'full', 50, now)
  expect(total).toBeLessThan(9_000)
  expect(alike.isWorthAPlace('scope', DAY_MS)).toBe(true)
})

test('a kind that was forgotten among very many begins anew', () => {
  const alike = new Alike()
  recorded(alike, 'full', ALIKE_AT_ONCE, 0)
  for (let i = 0; i < 10_000; i++) alike.isWorthAPlace(`other ${i}`, 0)
  expect(alike.isWorthAPlace('full', 0)).toBe(true)
})
