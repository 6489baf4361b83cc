import { expect, test } from 'vitest'
import { watchEventLoopDelay } from './event-loop-delay.ts'

test('a blocked event loop shows as delay, and nothing is reported before the first measurement', async () => {
  const delay = watchEventLoopDelay()
  expect(delay.p99Us()).toBe(null)
  await expect.poll(() => delay.p99Us()).not.toBe(null)
  const until = performance.now() + 400
  while (performance.now() < until);
  await expect.poll(() => delay.p99Us()).toBeGreaterThan(200_000)
  delay.stop()
})
