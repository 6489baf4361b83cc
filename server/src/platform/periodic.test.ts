import { expect, test } from 'vitest'
import { capturedLog } from '../../test/captured-log.ts'
import { TestClock } from '../../test/test-clock.ts'
import { type JobState, startPeriodic } from './periodic.ts'

test('a job records the end, the duration and the failure of its last run, and logs an outage once', async () => {
  const clock = new TestClock()
  const { log, text } = capturedLog({ level: 'info' })
  const jobs: JobState[] = []
  const outcomes = [undefined, 'the store is away', 'the store is away', undefined]
  const periodic = startPeriodic(
    { clock, log, jobs },
    {
      name: 'count',
      purpose: 'Counts',
      everyMs: 1_000,
      async run() {
        const reason = outcomes.shift()
        if (reason !== undefined) throw new Error(reason)
      },
    },
  )
  const state = { name: 'count', purpose: 'Counts', everyMs: 1_000 }
  expect(jobs).toEqual([{ ...state, lastRunAt: null, lastDurationMs: null, error: null }])
  const errors: (string | null)[] = []
  for (let run = 0; run < 4; run++) {
    await clock.advance(1_000)
    expect(jobs[0]).toMatchObject({ lastRunAt: clock.now(), lastDurationMs: 0 })
    errors.push(jobs[0]!.error)
  }
  expect(errors).toEqual([null, 'the store is away', 'the store is away', null])
  const messages = text()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).msg)
  expect(messages).toEqual(['failed, will retry', 'works again'])
  const stopped = periodic.stop()
  await clock.advance(1_000)
  await stopped
})
