import { expect, test } from 'vitest'
import { lastOf, seriesOf, timesOf } from './usage-series.ts'

type Usage = Parameters<typeof seriesOf>[0]
const usage = (metric: string, counts: Record<string, number[]>): Usage => ({
  object: 'usage',
  metric,
  by: 'key',
  step: 'minute',
  from: '',
  to: '',
  total: 0,
  series: Object.entries(counts).map(([key, values]) => ({
    key,
    total: 0,
    points: values.map((value, minute) => [minute * 60, value]),
  })),
})

test('the largest series have a colour each, and all others are added up, so that nothing is left out', () => {
  const counts = {
    a: [9, 9],
    b: [8, 8],
    c: [7, 7],
    d: [6, 6],
    e: [5, 5],
    f: [1, 2],
    g: [1, 0],
    other: [3, 3],
  }
  const series = seriesOf(usage('calls', counts), (key) => key.toUpperCase())
  expect(series.map(({ label }) => label)).toEqual(['A', 'B', 'C', 'D', 'E', 'others'])
  expect(series.at(-1)!.values).toEqual([5, 5])
  expect(new Set(series.map(({ color }) => color)).size).toBe(6)
})

test('levels are sorted by their highest value', () => {
  const found = seriesOf(usage('active_tokens', { small: [1, 3], large: [0, 640] }), (key) => key)
  expect(found.map(({ label }) => label)).toEqual(['large', 'small'])
})

test('times come from the points, and the last known value is not a gap', () => {
  expect(timesOf(usage('calls', { a: [1, 2] }))).toEqual([0, 60])
  expect(timesOf(usage('calls', {}))).toEqual([])
  expect([lastOf([1, 2, null]), lastOf([null])]).toEqual([2, null])
})
