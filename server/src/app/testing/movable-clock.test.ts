import { expect, test } from 'vitest'
import { MovableClock } from './movable-clock.ts'

test('a movable clock moves the wall clock and the monotonic clock by the same time, and only forward', () => {
  const clock = new MovableClock()
  const [wall, monotonic] = [clock.now(), clock.monotonic()]
  clock.move(900_000)
  expect(clock.now() - wall).toBeGreaterThanOrEqual(900_000)
  expect(clock.monotonic() - monotonic).toBeGreaterThanOrEqual(900_000)
  expect(() => clock.move(-1)).toThrow(RangeError)
})

test('moving the clock wakes those who sleep until then, and nobody else', async () => {
  const clock = new MovableClock()
  const woken: string[] = []
  const stop = new AbortController()
  const sleep = (name: string, ms: number) => clock.sleep(ms, stop.signal).then(() => woken.push(name))
  const sleeping = [sleep('minute', 60_000), sleep('hour', 3_600_000)]
  clock.move(60_000)
  await sleeping[0]
  expect(woken).toEqual(['minute'])
  stop.abort()
  await sleeping[1]
  expect(woken).toEqual(['minute', 'hour'])
})

test('a sleep on a movable clock ends by itself in real time', async () => {
  await new MovableClock().sleep(5)
})
