import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { systemClock } from './clock.ts'

test('who sleeps is woken by the signal, also by one that has fired before', async () => {
  const alarm = new AbortController()
  const slept = systemClock.sleep(60_000, alarm.signal)
  alarm.abort()
  await slept
  await systemClock.sleep(60_000, alarm.signal)
})

test('a signal that never fires is not kept in mind', async () => {
  const { signal } = new AbortController()
  for (let i = 0; i < 20; i++) await systemClock.sleep(1, signal)
  expect(getEventListeners(signal, 'abort')).toEqual([])
})
