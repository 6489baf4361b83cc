import { expect, test } from 'vitest'
import { type ClaimedDelivery, SendBuffer } from './send-buffer.ts'

const claimed = (destination: string, id: string, claimedAt = 0) =>
  ({ target: { id: destination }, delivery: { id }, claimedAt }) as ClaimedDelivery
const idOf = (one: ClaimedDelivery | undefined) => one?.delivery.id

test('each destination has its own queue, oldest first, and destinations take turns', () => {
  const buffer = new SendBuffer()
  for (const [destination, id] of [
    ['a', '1'],
    ['a', '2'],
    ['b', '3'],
    ['a', '4'],
  ] as const)
    buffer.add(claimed(destination, id))
  expect([buffer.size, buffer.destinations()]).toEqual([4, ['a', 'b']])
  expect(idOf(buffer.take('a'))).toBe('1')
  expect(buffer.destinations()).toEqual(['b', 'a'])
  expect(['b', 'a', 'a', 'a'].map((id) => idOf(buffer.take(id)))).toEqual(['3', '2', '4', undefined])
  expect([buffer.size, buffer.destinations()]).toEqual([0, []])
})

test('expired deliveries are removed, of every destination, and no others', () => {
  const buffer = new SendBuffer()
  buffer.add(claimed('a', '1', 10))
  buffer.add(claimed('a', '2', 20))
  buffer.add(claimed('b', '3', 10))
  // A slow relay adds an older claim behind a newer one.
  buffer.add(claimed('a', '4', 5))
  expect(buffer.removeExpired(10).map(idOf)).toEqual(['4'])
  expect(buffer.removeExpired(11).map(idOf)).toEqual(['1', '3'])
  expect([buffer.size, buffer.destinations()]).toEqual([1, ['a']])
  expect(buffer.removeExpired(Number.POSITIVE_INFINITY).map(idOf)).toEqual(['2'])
  expect(buffer.size).toBe(0)
})
