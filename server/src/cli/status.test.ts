import { expect, test } from 'vitest'
import { pairs, sparkline } from './status.ts'

test('a sparkline shows the highest count as a full bar, none as a dot, and any count as more than none', () => {
  expect(sparkline([0, 1, 50, 100])).toBe('·▁▄█')
  expect(sparkline([0, 0, 0])).toBe('···')
  expect(sparkline([1, 1])).toBe('██')
})

test('neighbours are added up without losing the last one', () => {
  expect(pairs([1, 2, 3, 4])).toEqual([3, 7])
  expect(pairs([1, 2, 3])).toEqual([3, 3])
})
