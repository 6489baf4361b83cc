import { expect, test } from 'vitest'
import { ClaimCursor } from './claim-cursor.ts'
import type { Claimed, ClaimRequest } from './delivery-queue.ts'

const AT_B = { project_id: 'proj_a', id: 'wh_b' }

const claimAt = (cursor: ClaimCursor, fields: Partial<ClaimRequest> = {}): ClaimRequest => ({
  ...{ id: 'c', limit: 128, defaultCapacity: 4, capacities: {}, cursor: cursor.position, ...fields },
})

/** A claim that returned this many deliveries of one destination. */
const claimed = (count: number, next: Claimed['next'] = null): Claimed =>
  ({
    ...{ now: 1, events: [], next, targets: count > 0 ? [AT_B] : [] },
    deliveries: Array.from({ length: count }, () => ({ destination_id: 'wh_b' })),
  }) as never

const stateOf = (cursor: ClaimCursor, now: number) => [cursor.shouldClaim(now), cursor.mayHaveDue]

test('a round that left nothing is repeated after half a second', () => {
  const cursor = new ClaimCursor()
  expect(cursor.shouldClaim(0)).toBe(true)
  cursor.start(0)
  expect(cursor.advance(claimAt(cursor), claimed(0))).toBe(false)
  expect(stateOf(cursor, 449)).toEqual([false, false])
  expect(cursor.shouldClaim(450)).toBe(true)
})

test('a delivery that becomes due during a claim is found by the next', () => {
  const cursor = new ClaimCursor()
  cursor.start(0)
  cursor.notifyDue()
  cursor.advance(claimAt(cursor), claimed(0))
  expect(stateOf(cursor, 1)).toEqual([true, true])
  cursor.start(1)
  cursor.advance(claimAt(cursor), claimed(0))
  expect(stateOf(cursor, 2)).toEqual([false, false])
})

test('a delivery that becomes due in a queue already visited is found by the next round', () => {
  const cursor = new ClaimCursor()
  cursor.start(0)
  cursor.advance(claimAt(cursor), claimed(0, AT_B))
  cursor.notifyDue()
  cursor.start(1)
  expect(cursor.advance(claimAt(cursor), claimed(0))).toBe(false)
  expect(cursor.shouldClaim(2)).toBe(true)
  cursor.start(2)
  cursor.advance(claimAt(cursor), claimed(0))
  expect(cursor.shouldClaim(3)).toBe(false)
})

test('a destination that got all it can take may have more, until a whole round has left nothing', () => {
  const cursor = new ClaimCursor()
  for (const fields of [{}, { capacities: { wh_b: 4 } }, { limit: 4 }, { capacities: { wh_b: 0 } }]) {
    cursor.start(0)
    cursor.advance(claimAt(cursor, fields), claimed(4))
    expect(stateOf(cursor, 1)).toEqual([true, true])
  }
  cursor.start(0)
  expect(cursor.advance(claimAt(cursor), claimed(4, AT_B))).toBe(true)
  // The rest of the round finds nothing, which says nothing about the earlier queues.
  cursor.start(0)
  expect(cursor.advance(claimAt(cursor), claimed(0))).toBe(false)
  expect(stateOf(cursor, 1)).toEqual([true, true])
  cursor.start(0)
  cursor.advance(claimAt(cursor), claimed(3))
  expect(stateOf(cursor, 1)).toEqual([false, false])
})
