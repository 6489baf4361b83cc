import { expect, test } from 'vitest'
import { MAX_BACKLOGS_SHOWN, METRICS } from '../../contract/metrics.ts'
import { createMetrics } from '../../platform/metrics.ts'
import { backlogMetrics } from './delivery-metrics.ts'

const AT = 1_000_000

/** A backlog in which destination `n` has `n + 1` due deliveries, the oldest since `n` seconds. */
function backlogOf(count: number) {
  const destinations = Array.from({ length: count }, (_, n) => ({
    ...{ id: `wh_${n}`, projectId: `proj_${n % 10}` },
    ...{ due: n + 1, oldestDueAt: AT - n * 1_000 },
  }))
  const due = destinations.reduce((sum, one) => sum + one.due, 0)
  return { due, oldestDueAt: AT - (count - 1) * 1_000, destinations }
}

function shown(count: number) {
  const metrics = createMetrics()
  const show = backlogMetrics(metrics)
  if (count > 0) show(backlogOf(count), AT)
  return (name: string) => metrics.families().find((family) => family.name === name)!.samples
}

test('the backlog of each destination is shown with its project', () => {
  const samplesOf = shown(2)
  const labels = { project: 'proj_1', destination: 'wh_1' }
  expect(samplesOf('jeton_destination_deliveries_due')[0]).toMatchObject({ labels, value: 2 })
  expect(samplesOf('jeton_destination_oldest_due_seconds')[0]).toMatchObject({ labels, value: 1 })
  expect(Object.keys(labels)).toEqual(METRICS.jeton_destination_deliveries_due!.labels)
})

test('10,000 destinations with a backlog are shown as the 100 largest and their rest, which add up to all', () => {
  const samplesOf = shown(10_000)
  const due = samplesOf('jeton_destination_deliveries_due')
  expect(due).toHaveLength(MAX_BACKLOGS_SHOWN + 1)
  expect(due).toHaveLength(METRICS.jeton_destination_deliveries_due!.maxSeries as number)
  expect(due[0]).toMatchObject({ labels: { destination: 'wh_9999' }, value: 10_000 })
  expect(due.at(-1)!.labels).toEqual({ project: 'other', destination: 'other' })
  const sum = due.reduce((all, { value }) => all + value, 0)
  expect(sum).toBe(samplesOf('jeton_deliveries_due')[0]!.value)
  expect(samplesOf('jeton_destination_oldest_due_seconds').at(-1)!.value).toBe(9_899)
})

test('without a backlog the totals are 0 and no destination is shown', () => {
  const metrics = createMetrics()
  const show = backlogMetrics(metrics)
  const valuesOf = (name: string) =>
    metrics
      .families()
      .find((family) => family.name === name)!
      .samples.map(({ value }) => value)
  expect(valuesOf('jeton_deliveries_oldest_due_seconds')).toEqual([])
  show({ due: 0, oldestDueAt: null, destinations: [] }, AT)
  expect(valuesOf('jeton_deliveries_due')).toEqual([0])
  expect(valuesOf('jeton_deliveries_oldest_due_seconds')).toEqual([0])
  expect(valuesOf('jeton_destination_deliveries_due')).toEqual([])
})
