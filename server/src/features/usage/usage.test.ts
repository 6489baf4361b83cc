import { expect, test } from 'vitest'
import { TestClock } from '../../../test/test-clock.ts'
import { METRICS } from '../../contract/metrics.ts'
import { createMetrics } from '../../platform/metrics.ts'
import { LATENCY_BUCKETS_MS, latencyBucket, percentileMs, seriesId } from './usage.ts'
import { UsageCounter } from './usage-counter.ts'

test('a percentile lies in the bucket that holds it, and is null without a count', () => {
  const counts = new Array<number>(LATENCY_BUCKETS_MS.length + 1).fill(0)
  expect(percentileMs(counts, 0.5)).toBeNull()
  for (let ms = 1; ms <= 100; ms++) counts[latencyBucket(ms)]!++
  expect(percentileMs(counts, 0.5)).toBe(50)
  expect(percentileMs(counts, 0.95)).toBe(95)
  counts[latencyBucket(90_000)] = 1_000
  expect(percentileMs(counts, 0.95)).toBe(60_000)
})

test('series that differ in one part have different ids, also where the parts joined are the same', () => {
  const series = { projectId: 'a', metric: 'calls', dimension: 'key', key: 'bc', bucket: 0 } as const
  const ids = [
    series,
    { ...series, projectId: 'ab', key: 'c' },
    { ...series, dimension: 'none' as const },
    { ...series, bucket: 1 },
  ].map(seriesId)
  expect(new Set(ids).size).toBe(ids.length)
  expect(seriesId({ ...series, metric: 'refusals' })).toBe(ids[0])
  expect(ids.every(Number.isSafeInteger)).toBe(true)
})

test('counts belong to the minute in which they happened, and a project gets the sum of its keys', () => {
  const clock = new TestClock(Date.UTC(2026, 0, 1, 12, 0, 59, 999))
  const counter = new UsageCounter(clock, createMetrics())
  counter.call('proj_1', 'key_1')
  counter.call('proj_1', 'key_2')
  void clock.advance(1)
  counter.call('proj_1', 'key_2')
  counter.refusal('key_blocked', { projectId: 'proj_1', keyId: 'key_2' })
  counter.refusal('app_id_unknown', {})
  const shown = counter
    .take()
    .map(({ series: { projectId, metric, dimension, key }, at, count }) =>
      [new Date(at).toISOString().slice(11, 16), projectId, metric, dimension, key, count].join(' '),
    )
  expect(shown.sort()).toEqual([
    '12:00 proj_1 calls key key_1 1',
    '12:00 proj_1 calls key key_2 1',
    '12:00 proj_1 calls none  2',
    '12:01  refusals none  1',
    '12:01  refusals reason app_id_unknown 1',
    '12:01 proj_1 calls key key_2 1',
    '12:01 proj_1 calls none  1',
    '12:01 proj_1 refusals key key_2 1',
    '12:01 proj_1 refusals none  1',
    '12:01 proj_1 refusals reason key_blocked 1',
  ])
  expect(counter.take()).toEqual([])
})

test('10,000 projects are counted in the metrics within the bound, and the sums equal the requests', () => {
  const metrics = createMetrics()
  const counter = new UsageCounter(new TestClock(), metrics)
  for (let n = 0; n < 10_000; n++) {
    const project = `proj_${n}`
    counter.tokenIssued(project, `key_${n}`)
    counter.call(project, `key_${n}`)
    counter.introspection(project, `key_${n}`, n % 4 > 0)
    counter.redemption(project)
    counter.tokenRefused('token_limit_reached', project)
    counter.refusal('limit', { projectId: project, keyId: `key_${n}` })
  }
  counter.tokenRefused('unauthorized', undefined)
  counter.refusal('app_id_unknown', {})
  const sums = metrics.families().map(({ name, samples }) => {
    expect(samples.length, name).toBeLessThanOrEqual(METRICS[name]!.maxSeries as number)
    return [name, samples.reduce((sum, { value }) => sum + value, 0)]
  })
  expect(Object.fromEntries(sums)).toEqual({
    jeton_tokens_issued_total: 10_000,
    jeton_tokens_refused_total: 10_001,
    jeton_introspections_total: 10_000,
    jeton_calls_total: 10_000,
    jeton_refusals_total: 10_001,
    jeton_redemptions_total: 10_000,
  })
})

test('the metrics of a project start at zero before its token limit is reached, and belong to it', () => {
  const metrics = createMetrics()
  const counter = new UsageCounter(new TestClock(), metrics)
  counter.tokenIssued('proj_1', 'key_1')
  counter.introspection('proj_1', 'key_1', false)
  const text = metrics.text()
  for (const line of [
    'jeton_tokens_issued_total{project="proj_1"} 1',
    'jeton_tokens_refused_total{project="proj_1",reason="token_limit_reached"} 0',
    'jeton_introspections_total{project="proj_1",verdict="active"} 0',
    'jeton_introspections_total{project="proj_1",verdict="inactive"} 1',
  ])
    expect(text).toContain(`${line}\n`)
})
