import { expect, test } from 'vitest'
import { eachEngine } from '../../../test/engines.ts'
import { TestClock } from '../../../test/test-clock.ts'
import { createMetrics } from '../../platform/metrics.ts'
import { sumsByProject } from './usage.store.ts'
import { UsageCounter } from './usage-counter.ts'
import { createUsageWriter } from './write-usage.ts'

eachEngine((engine) => {
  test('a write that begins during another includes what was counted since then', async () => {
    const db = await engine.open()
    const clock = new TestClock()
    const counter = new UsageCounter(clock, createMetrics())
    const writer = createUsageWriter({ db, clock, counter, activeTokens: async () => [] })
    const now = clock.now()
    const read = async () => {
      const range = { table: 'usage_hours', from: 0, to: now + 1 } as const
      const sums = await sumsByProject(db, { projectId: 'proj_1', metric: 'calls', ...range })
      return sums[0]?.count
    }
    counter.call('proj_1', 'key_1')
    const first = writer.write()
    counter.call('proj_1', 'key_1')
    await Promise.all([writer.write(), writer.write()])
    expect(await read()).toBe(2)
    await first
  })
})
