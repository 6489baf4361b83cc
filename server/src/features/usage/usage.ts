import { createHash } from 'node:crypto'

/** Metrics that are counted. `active_tokens` is a sample of a level; the others count requests, redemptions and attempts. */
export const USAGE_METRICS = [
  'tokens_issued',
  'introspections',
  'calls',
  'refusals',
  'redemptions',
  'deliveries',
  'failed_deliveries',
  'delivery_latency',
  'active_tokens',
] as const
export type UsageMetric = (typeof USAGE_METRICS)[number]

/** How the counts of a metric are split. `none` holds the whole project. */
export const USAGE_DIMENSIONS = ['none', 'key', 'reason', 'destination'] as const
export type UsageDimension = (typeof USAGE_DIMENSIONS)[number]

export const METRIC_DIMENSIONS: Readonly<Record<UsageMetric, readonly UsageDimension[]>> = {
  tokens_issued: ['none', 'key'],
  introspections: ['none', 'key'],
  calls: ['none', 'key'],
  refusals: ['none', 'key', 'reason'],
  redemptions: ['none'],
  deliveries: ['none', 'destination'],
  failed_deliveries: ['none', 'destination'],
  delivery_latency: ['none', 'destination'],
  active_tokens: ['none', 'key'],
}

/** One line of a chart. */
export interface Series {
  /** Empty for requests of which no project is known. */
  readonly projectId: string
  readonly metric: UsageMetric
  readonly dimension: UsageDimension
  /** Id of the key or destination, or the reason; empty with `none`. */
  readonly key: string
  /** Index into `LATENCY_BUCKETS_MS`; 0 for every other metric. */
  readonly bucket: number
}

/**
 * Derives the id of a series from its name, so that processes need not agree on one. All metrics share it. 48 bits fit into a JavaScript number;
 * among 10,000 series two share an id with a probability of one in five million.
 */
export function seriesId({ projectId, dimension, key, bucket }: Series): number {
  const name = JSON.stringify([projectId, dimension, key, bucket])
  return createHash('sha256').update(name).digest().readUIntBE(0, 6)
}

export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

export const KEEP_MINUTES_MS = 48 * HOUR_MS
export const KEEP_HOURS_MS = 90 * DAY_MS

/** Upper bounds; the last bucket takes everything above. */
export const LATENCY_BUCKETS_MS = [5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 60_000] as const

export function latencyBucket(ms: number): number {
  const found = LATENCY_BUCKETS_MS.findIndex((bound) => ms <= bound)
  return found < 0 ? LATENCY_BUCKETS_MS.length : found
}

/** Estimates a percentile from counts per bucket, by interpolation within the bucket; null without a count. */
export function percentileMs(counts: readonly number[], share: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  let below = 0
  for (const [bucket, count] of counts.entries()) {
    if (count > 0 && below + count >= share * total) {
      const from = bucket === 0 ? 0 : LATENCY_BUCKETS_MS[bucket - 1]!
      const to = LATENCY_BUCKETS_MS[bucket] ?? from
      return Math.round(from + ((to - from) * (share * total - below)) / count)
    }
    below += count
  }
  return null
}
