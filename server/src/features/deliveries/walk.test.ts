import { expect, test } from 'vitest'
import type { Claim, ExchangeOutput } from './exchange.ts'
import { Walk } from './walk.ts'

const AT_B = { project_id: 'proj_a', id: 'wh_b' }

const claimOf = (walk: Walk, fields: Partial<Claim> = {}): Claim => ({
  ...{ id: 'c', most: 128, share: 4, rooms: [], after: walk.after, ...fields },
})

/** An answer that took as many of one destination. */
const took = (count: number, next: ExchangeOutput['next'] = null): ExchangeOutput =>
  ({
    ...{ now: 1, events: [], next, destinations: count > 0 ? [AT_B] : [] },
    deliveries: Array.from({ length: count }, () => ({ destination_id: 'wh_b' })),
  }) as never

test('a lap that left nothing need not be repeated before half a second has passed', () => {
  const walk = new Walk()
  expect(walk.mayFind(0)).toBe(true)
  walk.asks(0)
  expect(walk.saw(claimOf(walk), took(0))).toBe(false)
  expect([walk.mayFind(449), walk.mayBeLeft]).toEqual([false, false])
  expect(walk.mayFind(450)).toBe(true)
})

test('what falls due while a claim is under way is looked for by the next', () => {
  const walk = new Walk()
  walk.asks(0)
  walk.look()
  walk.saw(claimOf(walk), took(0))
  expect([walk.mayFind(1), walk.mayBeLeft]).toEqual([true, true])
  walk.asks(1)
  walk.saw(claimOf(walk), took(0))
  expect([walk.mayFind(2), walk.mayBeLeft]).toEqual([false, false])
})

test('what falls due in a queue that this lap has passed is looked for by the next lap', () => {
  const walk = new Walk()
  walk.asks(0)
  walk.saw(claimOf(walk), took(0, AT_B))
  walk.look()
  walk.asks(1)
  expect(walk.saw(claimOf(walk), took(0))).toBe(false)
  expect(walk.mayFind(2)).toBe(true)
  walk.asks(2)
  walk.saw(claimOf(walk), took(0))
  expect(walk.mayFind(3)).toBe(false)
})

test('whoever got all that there was room for may have more, until a whole lap has left nothing', () => {
  const walk = new Walk()
  for (const fields of [
    {},
    { rooms: [{ ...AT_B, room: 4 }] },
    { most: 4 },
    { rooms: [{ ...AT_B, room: 0 }] },
  ]) {
    walk.asks(0)
    walk.saw(claimOf(walk, fields), took(4))
    expect([walk.mayFind(1), walk.mayBeLeft]).toEqual([true, true])
  }
  walk.asks(0)
  expect(walk.saw(claimOf(walk), took(4, AT_B))).toBe(true)
  // The rest of the lap brings nothing, which says nothing about those before.
  walk.asks(0)
  expect(walk.saw(claimOf(walk), took(0))).toBe(false)
  expect([walk.mayFind(1), walk.mayBeLeft]).toEqual([true, true])
  walk.asks(0)
  walk.saw(claimOf(walk), took(3))
  expect([walk.mayFind(1), walk.mayBeLeft]).toEqual([false, false])
})
