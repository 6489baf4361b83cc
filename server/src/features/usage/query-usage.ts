import { Problem } from '../../contract/problem.ts'
import type { Database } from '../../platform/database/index.ts'
import {
  largestKeys,
  pointsOf,
  sumsByTime,
  totalsOf,
  type UsagePoint,
  type UsageRange,
} from './usage.store.ts'
import {
  DAY_MS,
  HOUR_MS,
  KEEP_MINUTES_MS,
  LATENCY_BUCKETS_MS,
  METRIC_DIMENSIONS,
  MINUTE_MS,
  percentileMs,
  type UsageDimension,
  type UsageMetric,
} from './usage.ts'

export type UsageStep = 'minute' | 'hour' | 'day'
const STEP_MS: Readonly<Record<UsageStep, number>> = { minute: MINUTE_MS, hour: HOUR_MS, day: DAY_MS }

/** Series of a split. Of counts, the rest is added up in one more series, whose key is `other`. */
const MAX_SERIES = 20
/** 90 days by the hour. */
const MAX_STEPS = 3_000

export interface UsageQuery {
  /** Undefined for all projects together, which cannot be split. */
  readonly projectId: string | undefined
  readonly metric: UsageMetric
  readonly by: UsageDimension
  /** One series of the split. */
  readonly only?: string | undefined
  readonly step: UsageStep
  readonly from: number
  readonly to: number
}

export interface UsageSeries {
  readonly key: string | null
  readonly total: number | null
  readonly points: (readonly [number, number | null])[]
}

const refuse = (message: string, details: string): Problem =>
  new Problem('invalid_payload', { message, details })

function check({ metric, by, only, step, from, to }: UsageQuery): void {
  const dimensions = METRIC_DIMENSIONS[metric]
  if (!dimensions.includes(by))
    throw refuse(`${metric} cannot be split by ${by}.`, `Use by=${dimensions.join(' or by=')}.`)
  if (only !== undefined && by === 'none')
    throw refuse('only requires by.', `Name the split: by=${dimensions.slice(1).join(' or by=')}.`)
  if (from >= to) throw refuse('from must be before to.', 'Swap them, or leave out one of them.')
  const steps = Math.ceil((to - from) / STEP_MS[step])
  if (steps > MAX_STEPS)
    throw refuse(
      `This range has ${steps} steps, and at most ${MAX_STEPS} are returned.`,
      'Shorten the range or choose a longer step.',
    )
}

/** The step that suits a range, where none is named. */
export const defaultStep = (from: number, to: number, now: number): UsageStep =>
  to - from <= 6 * HOUR_MS && from >= now - KEEP_MINUTES_MS
    ? 'minute'
    : to - from <= 14 * DAY_MS
      ? 'hour'
      : 'day'

export async function queryUsage(
  db: Database,
  query: UsageQuery,
): Promise<{ series: UsageSeries[]; total: number | null }> {
  check(query)
  const ms = STEP_MS[query.step]
  const from = query.from - (query.from % ms)
  const range: UsageRange = {
    projectId: query.projectId,
    metrics: [query.metric],
    dimension: query.by,
    keys: query.only === undefined ? undefined : [query.only],
    table: query.step === 'minute' ? 'usage_minutes' : 'usage_hours',
    from,
    to: query.to,
  }
  const times = Array.from({ length: Math.ceil((query.to - from) / ms) }, (_, i) => from + i * ms)
  const grid = { from, ms, times }
  if (query.metric === 'delivery_latency') return latencySeries(await largestPoints(db, range), grid)
  if (query.metric === 'active_tokens') return levelSeries(await largestPoints(db, range), grid)
  return query.by === 'none' ? countSeries(await sumsByTime(db, range), grid) : splitSeries(db, range, grid)
}

/** Points of the largest series. Levels and percentiles cannot be added up, so the others are left out. */
async function largestPoints(db: Database, range: UsageRange): Promise<UsagePoint[]> {
  const keys = await largestKeys(db, range, MAX_SERIES)
  return keys.length === 0 ? [] : pointsOf(db, { ...range, keys })
}

interface Grid {
  readonly from: number
  readonly ms: number
  readonly times: readonly number[]
}

const inSeconds = (ms: number): number => ms / 1000
const slotOf = ({ from, ms }: Grid, at: number): number => Math.floor((at - from) / ms)

/** Counts of the largest series each, and of all others together. */
async function splitSeries(db: Database, range: UsageRange, grid: Grid) {
  const totals = (await totalsOf(db, range)).sort((a, b) => b.count - a.count)
  const largest = totals.slice(0, MAX_SERIES).map(({ key }) => key)
  const total = totals.reduce((sum, { count }) => sum + count, 0)
  if (largest.length === 0) return { series: [], total }
  const own = countSeries(await pointsOf(db, { ...range, keys: largest }), grid)
  if (totals.length <= MAX_SERIES) return own
  const others = { ...range, keys: undefined, withoutKeys: largest }
  const [rest] = countSeries(await sumsByTime(db, others), grid).series
  return { series: [...own.series, { ...rest!, key: 'other' }], total }
}

function countSeries(points: readonly UsagePoint[], grid: Grid) {
  const series = [...Map.groupBy(points, ({ key }) => key)].map(
    ([key, ofKey]): UsageSeries & { total: number } => {
      const counts = new Array<number>(grid.times.length).fill(0)
      for (const { at, count } of ofKey) counts[slotOf(grid, at)]! += count
      return {
        key: key || null,
        total: counts.reduce((sum, count) => sum + count, 0),
        points: grid.times.map((at, i) => [inSeconds(at), counts[i]!] as const),
      }
    },
  )
  series.sort((a, b) => b.total - a.total)
  return { series, total: series.reduce((sum, one) => sum + one.total, 0) }
}

/** Levels are not added up: a longer step shows the highest, and a step without a sample is null. */
function levelSeries(points: readonly UsagePoint[], grid: Grid) {
  const series = [...Map.groupBy(points, ({ key }) => key)].map(([key, ofKey]): UsageSeries => {
    const levels = new Array<number | null>(grid.times.length).fill(null)
    for (const { at, count } of ofKey) {
      const slot = slotOf(grid, at)
      levels[slot] = Math.max(levels[slot] ?? 0, count)
    }
    return {
      key: key || null,
      total: null,
      points: grid.times.map((at, i) => [inSeconds(at), levels[i]!] as const),
    }
  })
  return { series, total: null }
}

/** Two series per destination: the median and the 95th percentile, in milliseconds. */
function latencySeries(points: readonly UsagePoint[], grid: Grid) {
  const buckets = LATENCY_BUCKETS_MS.length + 1
  const series = [...Map.groupBy(points, ({ key }) => key)].flatMap(([key, ofKey]): UsageSeries[] => {
    const slots = grid.times.map(() => new Array<number>(buckets).fill(0))
    for (const { at, bucket, count } of ofKey) slots[slotOf(grid, at)]![bucket]! += count
    return (['p50', 'p95'] as const).map((name) => ({
      key: key ? `${key} ${name}` : name,
      total: null,
      points: grid.times.map(
        (at, i) => [inSeconds(at), percentileMs(slots[i]!, name === 'p50' ? 0.5 : 0.95)] as const,
      ),
    }))
  })
  return { series, total: null }
}
