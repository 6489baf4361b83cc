import { expect, test } from 'vitest'
import { canDraw, pairs, sparkline } from './status.ts'

test('a sparkline shows the highest count as a full bar, none as a dot, and any count as more than none', () => {
  expect(sparkline([0, 1, 50, 100])).toBe('·▁▄█')
  expect(sparkline([0, 0, 0])).toBe('···')
  expect(sparkline([1, 1])).toBe('██')
})

test('neighbours are added up without losing the last one', () => {
  expect(pairs([1, 2, 3, 4])).toEqual([3, 7])
  expect(pairs([1, 2, 3])).toEqual([3, 3])
})

test.each([
  [true, { LANG: 'en_US.UTF-8', TERM: 'xterm' }, true],
  [true, {}, true],
  [true, { LANG: 'C.utf8', LC_ALL: 'C' }, false],
  [true, { LANG: 'C.UTF-8', TERM: 'dumb' }, false],
  [false, { LANG: 'C.UTF-8' }, false],
])('charts are drawn only where the terminal can show them: %s %j', (isTTY, env, expected) => {
  expect(canDraw({ isTTY, env })).toBe(expected)
})
