import { describe, expect, test } from 'vitest'
import fc from '../../../test/properties.ts'
import { TestClock } from '../../../test/test-clock.ts'
import { DatabaseClock } from './database-clock.ts'

const START = Date.UTC(2026, 0, 15, 12)

async function started(storeNow = START) {
  const machine = new TestClock(START)
  const clock = new DatabaseClock(machine)
  clock.advanceTo(storeNow)
  return { machine, clock }
}

describe('the database time', () => {
  test('comes from the database, not from the local clock', async () => {
    const { clock } = await started(START - 3_600_000)
    expect(clock.now()).toBe(START - 3_600_000)
  })

  test('advances between polls by the monotonic clock, and ignores jumps of the wall clock', async () => {
    const { machine, clock } = await started()
    await machine.advance(1_500)
    machine.setNow(0)
    expect(clock.now()).toBe(START + 1_500)
  })

  test('follows the database forward immediately, and never goes back', async () => {
    const { machine, clock } = await started()
    clock.advanceTo(START + 10_000)
    expect(clock.now()).toBe(START + 10_000)
    clock.advanceTo(START - 60_000)
    await machine.advance(250)
    expect(clock.now()).toBe(START + 10_250)
  })

  test('is in whole milliseconds', () => {
    let monotonic = 0.3
    const clock = new DatabaseClock({
      now: () => START,
      monotonic: () => monotonic,
      sleep: async () => undefined,
    })
    clock.advanceTo(START)
    for (let i = 0; i < 100; i++) {
      monotonic += 0.37
      expect(Number.isInteger(clock.now())).toBe(true)
    }
    expect(clock.now()).toBe(START + 37)
  })

  test('never goes back, is never behind the database, and is never ahead of its reports plus the time since', () => {
    const moves = fc.array(
      fc.record({ passes: fc.nat(5_000), jump: fc.option(fc.integer({ min: -100_000, max: 100_000 })) }),
    )
    fc.assert(
      fc.property(moves, (history) => {
        let [monotonic, store] = [0, START]
        const clock = new DatabaseClock({
          now: () => 0,
          monotonic: () => monotonic,
          sleep: async () => undefined,
        })
        clock.advanceTo(store)
        let [last, latest] = [clock.now(), store]
        for (const { passes, jump } of history) {
          monotonic += passes
          store += passes + (jump ?? 0)
          latest = Math.max(latest + passes, store)
          clock.advanceTo(store)
          const now = clock.now()
          expect(now).toBeGreaterThanOrEqual(Math.max(last, store))
          expect(now).toBeLessThanOrEqual(latest)
          last = now
        }
      }),
    )
  })
})
