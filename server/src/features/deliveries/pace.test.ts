import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { TestClock } from '../../../test/test-clock.ts'
import { EVENTS_AT_ONCE } from './fan-out.ts'
import { EVENTS_FEW, Pace } from './pace.ts'

/** What is being sent, as far as the pace asks: of so many endings in a millisecond, and so much room. */
function sending({ room = 768, isBehind = false, endingsPerMs = 0, settles = true, roomPerMs = 0 }) {
  const clock = new TestClock()
  const began = clock.monotonic()
  const sends = {
    room,
    isBehind,
    hasRoomFor: (deliveries: number) => sends.room >= deliveries,
    maySettle: () => settles,
    async pause(ms: number, isEnough: () => boolean) {
      for (let waited = 0; waited < ms && !isEnough(); waited++) {
        await sleep(1)
        sends.room += roomPerMs
      }
    },
    get endings() {
      return Math.floor((clock.monotonic() - began) * endingsPerMs)
    },
  }
  const pace = new Pace(sends, clock)
  return {
    sends,
    /** After a batch of so many deliveries for each event, which took 10 ms. */
    async next(events: number, { perEvent = 1, left = 0 } = {}) {
      await clock.advance(10)
      return pace.next({ events, kept: events * perEvent - left, left, upTo: 0 })
    },
  }
}

test('where all of it fits, batches grow until they are as large as may be', async () => {
  const { next } = sending({})
  const sizes = [EVENTS_FEW]
  for (let i = 0; i < 6; i++) sizes.push(await next(sizes.at(-1)!))
  expect(sizes).toEqual([16, 32, 64, 128, 256, EVENTS_AT_ONCE, EVENTS_AT_ONCE])
})

test('a batch is no larger than there is room for, but never smaller than a few', async () => {
  const { next, sends } = sending({ room: 500 })
  expect(await next(400, { perEvent: 10 })).toBe(50)
  sends.room = 0
  expect(await next(50, { perEvent: 10 })).toBe(EVENTS_FEW)
})

test('of events that go to many, no more are taken than one batch may have', async () => {
  const { next } = sending({ room: 5_000 })
  expect(await next(16, { perEvent: 1_000 })).toBe(1)
  expect(await next(1, { perEvent: 1_000, left: 1_000 })).toBe(1)
  expect(await next(1, { perEvent: 1 })).toBe(32)
})

test('where most is left although receivers take what they get, batches stay small', async () => {
  const { next } = sending({ isBehind: true, endingsPerMs: 5 })
  for (let i = 0; i < 6; i++) expect(await next(16, { left: 16 })).toBe(EVENTS_FEW)
})

test('where most is left since a receiver is slow, those behind it do not wait: three small batches, then no pause', async () => {
  const { next } = sending({ isBehind: true })
  for (let i = 0; i < 3; i++) expect(await next(16, { left: 16 })).toBe(EVENTS_FEW)
  const began = performance.now()
  for (let i = 0; i < 100; i++) expect(await next(400, { left: 400 })).toBe(EVENTS_AT_ONCE)
  // With a pause before each, five seconds.
  expect(performance.now() - began).toBeLessThan(2_500)
})

test('others do not wait before every batch for those that take their time: once, until there is room again', async () => {
  const { next, sends } = sending({ room: 0 })
  expect(await next(16)).toBe(EVENTS_FEW)
  const began = performance.now()
  for (let i = 0; i < 100; i++) expect(await next(16)).toBe(EVENTS_FEW)
  // With a pause before each, five seconds.
  expect(performance.now() - began).toBeLessThan(1_000)
  sends.room = 768
  expect(await next(16)).toBe(2 * EVENTS_FEW)
  sends.room = 0
  const full = performance.now()
  await next(16)
  expect(performance.now() - full).toBeGreaterThan(45)
})

test('for a store that cannot keep up there is a pause before every batch', async () => {
  const { next } = sending({ room: 0, settles: false })
  const began = performance.now()
  for (let i = 0; i < 4; i++) expect(await next(16)).toBe(EVENTS_FEW)
  expect(performance.now() - began).toBeGreaterThan(180)
})

test('where receivers are quick, a batch waits for what ends within a moment, and goes on as soon as that is so', async () => {
  const { next } = sending({ room: 20, endingsPerMs: 8, roomPerMs: 40 })
  // How fast they are is not known yet.
  expect(await next(16)).toBe(20)
  // 200: what ends within 25 ms, at eight a millisecond.
  expect(await next(150)).toBe(220)
})

test('where that does not come, others wait for it once, and then go on with what room there is', async () => {
  const { next } = sending({ room: 100, endingsPerMs: 8 })
  await next(16)
  await next(16)
  const began = performance.now()
  for (let i = 0; i < 100; i++) expect(await next(100)).toBe(100)
  // With a pause before each, five seconds.
  expect(performance.now() - began).toBeLessThan(1_000)
})
