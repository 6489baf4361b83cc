import { expect, test } from 'vitest'
import { TestClock } from '../../../test/test-clock.ts'
import { EVENTS_AT_ONCE } from './fan-out.ts'
import { EVENTS_FEW, Pace } from './pace.ts'

/** How long a batch takes, and how long one waits at most for the next where an event goes to few. */
const BATCH_MS = 10
const PAUSE_MS = 50

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
        await clock.advance(1)
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
    now: clock.monotonic,
    /** After a batch of so many deliveries for each event, which took a moment. */
    async next(events: number, { perEvent = 1, left = 0, leftToQuick = 0 } = {}) {
      await clock.advance(BATCH_MS)
      return pace.next({ events, kept: events * perEvent - left, left, leftToQuick, upTo: 0 })
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
  const { next, now } = sending({ isBehind: true })
  for (let i = 0; i < 3; i++) expect(await next(16, { left: 16 })).toBe(EVENTS_FEW)
  const began = now()
  for (let i = 0; i < 100; i++) expect(await next(400, { left: 400 })).toBe(EVENTS_AT_ONCE)
  expect(now() - began).toBe(100 * BATCH_MS)
})

test('what quick receivers have left in the store is waited for before every batch, until it is gone', async () => {
  const { next, now, sends } = sending({ isBehind: true })
  const began = now()
  for (let i = 0; i < 6; i++) expect(await next(16, { left: 16, leftToQuick: 9 })).toBe(EVENTS_FEW)
  expect(now() - began).toBe(6 * (BATCH_MS + PAUSE_MS))
  sends.isBehind = false
  expect(await next(16, { left: 16, leftToQuick: 16 })).toBe(EVENTS_FEW)
  expect(await next(16)).toBe(2 * EVENTS_FEW)
  expect(now() - began).toBe(6 * (BATCH_MS + PAUSE_MS) + 2 * BATCH_MS)
})

test('where that does not come to an end, others wait for a second in all, and then for a tenth of the time', async () => {
  const { next, now } = sending({ isBehind: true })
  const began = now()
  const sizes: number[] = []
  while (now() - began < 20_000) sizes.push(await next(16, { left: 16, leftToQuick: 16 }))
  const waited = now() - began - sizes.length * BATCH_MS
  expect(waited).toBeGreaterThan(2_000)
  expect(waited).toBeLessThan(3_100)
  expect(sizes.at(-1)).toBe(EVENTS_AT_ONCE)
})

test('it is waited for as well where it was the smaller part: else a part of every event would be left behind it', async () => {
  const { next, sends, now } = sending({ isBehind: true, room: 5_000 })
  const began = now()
  await next(1, { perEvent: 1_000, left: 200, leftToQuick: 200 })
  expect(now() - began).toBe(BATCH_MS + 250)
  sends.isBehind = false
  await next(1, { perEvent: 1_000, left: 200, leftToQuick: 200 })
  expect(now() - began).toBe(2 * BATCH_MS + 250)
})

test('where most of what is left is for slow ones, nobody waits for the quick', async () => {
  const { next } = sending({ isBehind: true })
  const sizes: number[] = []
  for (let i = 0; i < 5; i++) sizes.push(await next(16, { left: 16, leftToQuick: 8 }))
  expect(sizes).toEqual([16, 16, 16, EVENTS_AT_ONCE, EVENTS_AT_ONCE])
})

test('others do not wait before every batch for those that take their time: once, until there is room again', async () => {
  const { next, now, sends } = sending({ room: 0 })
  expect(await next(16)).toBe(EVENTS_FEW)
  const began = now()
  for (let i = 0; i < 100; i++) expect(await next(16)).toBe(EVENTS_FEW)
  expect(now() - began).toBe(100 * BATCH_MS)
  sends.room = 768
  expect(await next(16)).toBe(2 * EVENTS_FEW)
  sends.room = 0
  const full = now()
  await next(16)
  expect(now() - full).toBe(BATCH_MS + PAUSE_MS)
})

test('nor do they wait long in all, where there is room each time but little is moving', async () => {
  const { next, now, sends } = sending({ endingsPerMs: 1, roomPerMs: 1 })
  const began = now()
  let batches = 0
  while (now() - began < 20_000) {
    sends.room = 0
    await next(16)
    batches++
  }
  const waited = now() - began - batches * BATCH_MS
  expect(waited).toBeGreaterThan(900)
  expect(waited).toBeLessThan(3_100)
})

test('where receivers take what they get, every batch waits for room', async () => {
  const { next, now, sends } = sending({ endingsPerMs: 2, roomPerMs: 2 })
  await next(16)
  const began = now()
  for (let i = 0; i < 200; i++) {
    sends.room = 0
    await next(16)
  }
  // 50 places at two a millisecond: what ends within 25 ms.
  expect(now() - began).toBe(200 * (BATCH_MS + 25))
})

test('for a store that cannot keep up there is a pause before every batch', async () => {
  const { next, now } = sending({ room: 0, settles: false })
  const began = now()
  for (let i = 0; i < 40; i++) expect(await next(16)).toBe(EVENTS_FEW)
  expect(now() - began).toBe(40 * (BATCH_MS + PAUSE_MS))
})

test('where receivers are quick, a batch waits for what ends within a moment, and goes on as soon as that is so', async () => {
  const { next } = sending({ room: 20, endingsPerMs: 8, roomPerMs: 40 })
  // How fast they are is not known yet.
  expect(await next(16)).toBe(20)
  // 200: what ends within 25 ms, at eight a millisecond.
  expect(await next(150)).toBe(220)
})

test('where that does not come, others wait for it once, and then go on with what room there is', async () => {
  const { next, now } = sending({ room: 100, endingsPerMs: 8 })
  await next(16)
  await next(16)
  const began = now()
  for (let i = 0; i < 100; i++) expect(await next(100)).toBe(100)
  expect(now() - began).toBe(100 * BATCH_MS)
})
