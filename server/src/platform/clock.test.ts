import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { systemClock } from './clock.ts'

test('a sleep ends when the signal fires, also if it has fired before', async () => {
  const alarm = new AbortController()
  const slept = systemClock.sleep(60_000, alarm.signal)
  alarm.abort()
  await slept
  await systemClock.sleep(60_000, alarm.signal)
})

test('a sleep that ends removes its listener from the signal', async () => {
  const { signal } = new AbortController()
  for (let i = 0; i < 20; i++) await systemClock.sleep(1, signal)
  expect(getEventListeners(signal, 'abort')).toEqual([])
})
