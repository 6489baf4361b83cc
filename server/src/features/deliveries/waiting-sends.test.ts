import { expect, test } from 'vitest'
import type { Sending } from './settlement.ts'
import { WaitingSends } from './waiting-sends.ts'

const sendingTo = (id: string, name: string) => ({ claimId: name, destination: { id } }) as Sending
const names = (sendings: readonly (Sending | undefined)[]) => sendings.map((one) => one?.claimId)

function filled(): WaitingSends {
  const waiting = new WaitingSends()
  waiting.add(sendingTo('a', 'a1'), 10)
  waiting.add(sendingTo('b', 'b1'), 20)
  waiting.add(sendingTo('a', 'a2'), 30)
  waiting.add(sendingTo('a', 'a3'), 40)
  return waiting
}

test('each destination has its own, oldest first, and none is left when they are taken', () => {
  const waiting = filled()
  expect(names([waiting.take('a'), waiting.take('a'), waiting.take('b')])).toEqual(['a1', 'a2', 'b1'])
  expect([waiting.has('a'), waiting.has('b')]).toEqual([true, false])
  waiting.add(sendingTo('a', 'a4'), 50)
  expect(names([waiting.take('a'), waiting.take('a'), waiting.take('a')])).toEqual(['a3', 'a4', undefined])
  waiting.add(sendingTo('a', 'a5'), 60)
  expect(names([waiting.take('a')])).toEqual(['a5'])
})

test('those that are late are known of one, and taken of all, to the very last at the end', () => {
  const waiting = filled()
  const taken = []
  while (waiting.isLate('a', 30)) taken.push(waiting.take('a'))
  expect(names(taken)).toEqual(['a1', 'a2'])
  expect(names(waiting.takeLate(5))).toEqual([])
  expect(names(waiting.takeLate(Number.POSITIVE_INFINITY))).toEqual(['a3', 'b1'])
  expect([waiting.has('a'), waiting.has('b')]).toEqual([false, false])
  expect(names(waiting.takeLate(Number.POSITIVE_INFINITY))).toEqual([])
})
