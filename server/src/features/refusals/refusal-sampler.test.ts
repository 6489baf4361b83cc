import { expect, test } from 'vitest'
import { BURST, RefusalSampler } from './refusal-sampler.ts'

const DAY_MS = 24 * 60 * 60_000

const recorded = (sampler: RefusalSampler, kind: string, times: number, now: number) =>
  Array.from({ length: times }, () => sampler.shouldRecord(kind, now)).filter(Boolean).length

test('the first 100 repeated refusals are recorded, then one every ten seconds, and 100 again after a pause', () => {
  const sampler = new RefusalSampler()
  expect(recorded(sampler, 'full', 5_000, 0)).toBe(BURST)
  expect(recorded(sampler, 'full', 5_000, 9_999)).toBe(0)
  expect(recorded(sampler, 'full', 5_000, 10_000)).toBe(1)
  expect(recorded(sampler, 'full', 5_000, 35_000)).toBe(2)
  expect(recorded(sampler, 'full', 5_000, DAY_MS)).toBe(BURST)
})

test('kinds of refusals have separate budgets, and a day of one kind fits into the 10,000 of a project', () => {
  const sampler = new RefusalSampler()
  let total = 0
  for (let now = 0; now < DAY_MS; now += 5_000) total += recorded(sampler, 'full', 50, now)
  expect(total).toBeLessThan(9_000)
  expect(sampler.shouldRecord('scope', DAY_MS)).toBe(true)
})

test('a kind that was evicted from memory starts with a full burst again', () => {
  const sampler = new RefusalSampler()
  recorded(sampler, 'full', BURST, 0)
  for (let i = 0; i < 10_000; i++) sampler.shouldRecord(`other ${i}`, 0)
  expect(sampler.shouldRecord('full', 0)).toBe(true)
})
