import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Explained, openExplained } from '../../../test/explained.ts'
import { TestClock } from '../../../test/test-clock.ts'
import { waitForAttempt } from './wait-for-attempt.ts'

let explained: Explained
beforeAll(async () => {
  explained = await openExplained()
  explained.database.exec(
    `insert into deliveries (project_id, id, event_id, destination_id, status, head, tail, attempts_made, slot, created_at)
      values ('p', 'x', 'e', 'd', 'pending', '', '', 0, 0, 1)`,
  )
})
afterAll(() => explained.database.close())

test('a wait reads one row by its key, at most five times per second', async () => {
  const clock = new TestClock()
  let reads = 0
  const db = {
    read<Tables>() {
      reads++
      return explained.reader.read<Tables>()
    },
  }
  const wait = { projectId: 'p', deliveryId: 'x', waitMs: 15_000, signal: new AbortController().signal }
  const plan = await explained.planOf(async () => {
    const waiting = waitForAttempt({ db, clock }, wait)
    for (let ms = 0; ms < 15_000; ms += 10) await clock.advance(10)
    await waiting
  })
  expect(plan).toEqual([
    expect.stringMatching(/^SEARCH deliveries USING INDEX \w+ \(project_id=\? AND id=\?\)$/),
  ])
  expect(reads).toBeGreaterThan(15)
  expect(reads).toBeLessThanOrEqual(75)
})

test('a wait ends immediately if the delivery is removed', async () => {
  const clock = new TestClock()
  const wait = { projectId: 'p', deliveryId: 'none', waitMs: 15_000, signal: new AbortController().signal }
  const waiting = waitForAttempt({ db: explained.reader, clock }, wait)
  await clock.advance(100)
  await waiting
  expect(clock.sleeping).toBe(0)
})
