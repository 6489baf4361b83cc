import { expect, test } from 'vitest'
import { FIRST_MOST_MS, First } from './first-sends.ts'

const held = { project_id: 'p', event_id: 'e', created_at: 1, claim_id: 'c' }
const newFirst = () => new First(held, [{} as never])

test('an event waits for its sends, and for those that wait for a place, but not for long', () => {
  const first = newFirst()
  first.begin(5_000)
  expect(first.isDue(5_000 + FIRST_MOST_MS - 1)).toBe(false)
  first.beginSend(5_200)
  expect(first.isDue(5_000 + FIRST_MOST_MS)).toBe(false)
  expect(first.isDue(5_200 + FIRST_MOST_MS)).toBe(true)
  first.beginSend(5_900)
  expect(first.isDue(5_999)).toBe(false)
  expect(first.isDue(6_000)).toBe(true)
})

test('one that is to be written at once is, whatever is begun', () => {
  const first = newFirst()
  first.begin(5_000)
  first.hurry()
  first.beginSend(5_001)
  expect(first.isDue(5_001)).toBe(true)
})
