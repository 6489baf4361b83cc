import type { Reader } from '../../platform/database/index.ts'
import { sumsByProject, totalsOf, type UsageTotal } from './usage.store.ts'
import { DAY_MS, HOUR_MS, LATENCY_BUCKETS_MS, MINUTE_MS, percentileMs, type UsageMetric } from './usage.ts'

interface Range {
  readonly projectId: string
  /** Ids of keys or destinations. */
  readonly ids: readonly string[]
  readonly from: number
  readonly to: number
}

const wholeHours = (from: number, to: number) => ({
  table: 'usage_hours' as const,
  from: from - (from % HOUR_MS),
  to,
})

const byId = (totals: readonly UsageTotal[]): Map<string, UsageTotal[]> =>
  Map.groupBy(totals, ({ key }) => key)

const sumOf = (totals: readonly UsageTotal[], metric: UsageMetric): number =>
  totals.filter((one) => one.metric === metric).reduce((sum, { count }) => sum + count, 0)

export interface DestinationUse {
  readonly attempts: number
  readonly failed: number
  readonly p95Ms: number | null
}

/** Attempts of each destination, in whole hours. */
export async function destinationUse(reader: Reader, range: Range): Promise<Map<string, DestinationUse>> {
  if (range.ids.length === 0) return new Map()
  const totals = await totalsOf(reader, {
    projectId: range.projectId,
    metrics: ['deliveries', 'failed_deliveries', 'delivery_latency'],
    dimension: 'destination',
    keys: range.ids,
    ...wholeHours(range.from, range.to),
  })
  return new Map(
    byId(totals)
      .entries()
      .map(([id, own]) => [
        id,
        {
          attempts: sumOf(own, 'deliveries'),
          failed: sumOf(own, 'failed_deliveries'),
          p95Ms: percentileMs(latencyCounts(own), 0.95),
        },
      ]),
  )
}

function latencyCounts(totals: readonly UsageTotal[]): number[] {
  const counts = new Array<number>(LATENCY_BUCKETS_MS.length + 1).fill(0)
  for (const { metric, bucket, count } of totals) if (metric === 'delivery_latency') counts[bucket]! += count
  return counts
}

export interface KeyUse24h {
  /** Tokens issued, introspections, allowed calls and refusals. */
  readonly requests: number
  readonly refused: number
}

const KEY_METRICS: readonly UsageMetric[] = ['tokens_issued', 'introspections', 'calls', 'refusals']

/** Requests of each key, in whole hours. */
export async function keyUse(reader: Reader, range: Range): Promise<Map<string, KeyUse24h>> {
  if (range.ids.length === 0) return new Map()
  const totals = await totalsOf(reader, {
    projectId: range.projectId,
    metrics: KEY_METRICS,
    dimension: 'key',
    keys: range.ids,
    ...wholeHours(range.from, range.to),
  })
  return new Map(
    byId(totals)
      .entries()
      .map(([id, own]) => [
        id,
        { requests: own.reduce((sum, { count }) => sum + count, 0), refused: sumOf(own, 'refusals') },
      ]),
  )
}

/** Minutes have no upper limit: the clock of the process that counted may be ahead of the database. */
const NO_LIMIT = Number.MAX_SAFE_INTEGER

/** Allowed calls of all projects. */
export async function countCalls(reader: Reader, from: number): Promise<number> {
  const sums = await sumsByProject(reader, {
    projectId: undefined,
    metric: 'calls',
    table: 'usage_minutes',
    from,
    to: NO_LIMIT,
  })
  return sums.reduce((sum, { count }) => sum + count, 0)
}

const JUMP_MS = 10 * MINUTE_MS
const JUMP_FACTOR = 5
const MIN_JUMP = 50

export interface RefusalJump {
  /** Empty for refusals without a project. */
  readonly projectId: string
  readonly refused: number
  /** Mean of ten minutes in the last 24 hours. */
  readonly usual: number
}

/** Projects with many more refusals in the last ten minutes than usual. */
export async function listRefusalJumps(
  reader: Reader,
  now: number,
  projectId?: string,
): Promise<RefusalJump[]> {
  const metric = 'refusals' as const
  const from = now - JUMP_MS
  const recent = await sumsByProject(reader, {
    projectId,
    metric,
    table: 'usage_minutes',
    from: from - (from % MINUTE_MS),
    to: NO_LIMIT,
  })
  const suspects = recent.filter(({ count }) => count >= MIN_JUMP)
  if (suspects.length === 0) return []
  const day = await sumsByProject(reader, { projectId, metric, ...wholeHours(now - DAY_MS, NO_LIMIT) })
  const daily = new Map(day.map(({ project_id, count }) => [project_id, count]))
  return suspects
    .map(({ project_id, count }) => ({
      projectId: project_id,
      refused: count,
      usual: Math.max(0, (daily.get(project_id) ?? 0) - count) / (DAY_MS / JUMP_MS),
    }))
    .filter(({ refused, usual }) => refused >= JUMP_FACTOR * usual)
}
