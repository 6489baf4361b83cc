import { describe, expect, test } from 'vitest'
import { TestClock } from './test-clock.ts'

describe('the clock of tests', () => {
  test('wakes sleepers in the order of their times, each at its own time', async () => {
    const clock = new TestClock(0)
    const woken: string[] = []
    for (const ms of [300, 100, 200]) void clock.sleep(ms).then(() => woken.push(`${ms} at ${clock.now()}`))
    await clock.advance(250)
    expect(woken).toEqual(['100 at 100', '200 at 200'])
    expect(clock.sleeping).toBe(1)
    expect(clock.now()).toBe(250)
  })

  test('lets a loop that sleeps again run as often as real time would', async () => {
    const clock = new TestClock(0)
    const ticks: number[] = []
    void (async () => {
      for (;;) {
        await clock.sleep(1_000)
        ticks.push(clock.now())
      }
    })()
    await clock.advance(3_500)
    expect(ticks).toEqual([1_000, 2_000, 3_000])
  })

  test('a skip moves both clocks, and wakes a loop that sleeps again only once', async () => {
    const clock = new TestClock(0)
    const before = clock.monotonic()
    const ticks: number[] = []
    void (async () => {
      for (;;) {
        await clock.sleep(1_000)
        ticks.push(clock.now())
      }
    })()
    await clock.skip(3_500)
    expect([clock.now(), clock.monotonic() - before]).toEqual([3_500, 3_500])
    expect(ticks).toEqual([3_500])
    await clock.advance(1_000)
    expect(ticks).toEqual([3_500, 4_500])
  })

  test('a jump of the wall clock moves neither sleepers nor the monotonic clock', async () => {
    const clock = new TestClock(0)
    const before = clock.monotonic()
    void clock.sleep(10)
    clock.setNow(-5_000)
    expect([clock.now(), clock.monotonic() - before, clock.sleeping]).toEqual([-5_000, 0, 1])
  })

  test('a fired signal ends the sleep without an error', async () => {
    const clock = new TestClock(0)
    const stop = new AbortController()
    const sleep = clock.sleep(10, stop.signal)
    stop.abort()
    await expect(sleep).resolves.toBeUndefined()
    await expect(clock.sleep(10, stop.signal)).resolves.toBeUndefined()
    expect(clock.sleeping).toBe(0)
  })
})
