import type { Clock } from '../../platform/clock.ts'
import type { Metrics } from '../../platform/metrics.ts'
import { latencyBucket, MINUTE_MS, type Series, type UsageDimension, type UsageMetric } from './usage.ts'
import { createUsageMetrics, type ProjectCounters } from './usage-metrics.ts'

export interface Point {
  readonly series: Series
  /** Start of the minute, epoch milliseconds. */
  readonly at: number
  readonly count: number
}

type KeyMetric = 'tokens_issued' | 'introspections' | 'calls' | 'refusals'
const KEY_METRICS: readonly KeyMetric[] = ['tokens_issued', 'introspections', 'calls', 'refusals']

interface KeyCounts extends Record<KeyMetric, number> {
  readonly projectId: string
  readonly metrics: ProjectCounters
}

interface Attempt {
  readonly projectId: string
  readonly destinationId: string
  readonly succeeded: boolean
  /** From the event to its arrival, where the first attempt succeeded. */
  readonly latencyMs: number | undefined
}

/** Counts of one minute. */
class Minute {
  readonly at: number
  /** Apart from the rest, since every request counts here. */
  readonly keys = new Map<string, KeyCounts>()
  readonly others = new Map<string, { series: Series; count: number }>()

  constructor(at: number) {
    this.at = at
  }

  add(series: Series, count = 1): void {
    const name = `${series.metric} ${series.dimension} ${series.projectId} ${series.key} ${series.bucket}`
    const known = this.others.get(name)
    if (known) known.count += count
    else this.others.set(name, { series, count })
  }
}

/** Counts in memory, and in the metrics of the process. `take` hands over what was counted since the last call. */
export class UsageCounter {
  readonly #clock: Clock
  readonly #metrics: ReturnType<typeof createUsageMetrics>
  #minutes: Minute[] = []

  constructor(clock: Clock, metrics: Metrics) {
    this.#clock = clock
    this.#metrics = createUsageMetrics(metrics)
  }

  tokenIssued(projectId: string, keyId: string): void {
    const counts = this.#key(projectId, keyId)
    counts.tokens_issued++
    counts.metrics.tokensIssued.add()
  }

  /** A refusal with 401, 403 or 429 is also reported to `refusal`. */
  tokenRefused(reason: string, projectId: string | undefined): void {
    this.#metrics.tokenRefused(reason, projectId)
  }

  introspection(projectId: string, keyId: string, isActive: boolean): void {
    const counts = this.#key(projectId, keyId)
    counts.introspections++
    counts.metrics[isActive ? 'active' : 'inactive'].add()
  }

  call(projectId: string, keyId: string): void {
    const counts = this.#key(projectId, keyId)
    counts.calls++
    counts.metrics.calls.add()
  }

  refusal(
    reason: string,
    { projectId, keyId }: { projectId?: string | undefined; keyId?: string | undefined },
  ): void {
    this.#minute().add(seriesOf(projectId ?? '', 'refusals', 'reason', reason))
    if (projectId !== undefined && keyId !== undefined) this.#key(projectId, keyId).refusals++
    this.#metrics.refusal(reason, projectId)
  }

  redemption(projectId: string): void {
    this.#minute().add(seriesOf(projectId, 'redemptions', 'none', ''))
    this.#metrics.redemption(projectId)
  }

  attempt({ projectId, destinationId, succeeded, latencyMs }: Attempt): void {
    const minute = this.#minute()
    const count = (metric: UsageMetric, bucket = 0) =>
      minute.add({ ...seriesOf(projectId, metric, 'destination', destinationId), bucket })
    count('deliveries')
    if (!succeeded) count('failed_deliveries')
    if (latencyMs !== undefined) count('delivery_latency', latencyBucket(latencyMs))
  }

  take(): Point[] {
    const minutes = this.#minutes
    this.#minutes = []
    return minutes.flatMap(pointsOf)
  }

  #key(projectId: string, keyId: string): KeyCounts {
    const { keys } = this.#minute()
    let counts = keys.get(keyId)
    if (!counts) {
      const metrics = this.#metrics.ofProject(projectId)
      counts = { projectId, metrics, tokens_issued: 0, introspections: 0, calls: 0, refusals: 0 }
      keys.set(keyId, counts)
    }
    return counts
  }

  #minute(): Minute {
    const now = this.#clock.now()
    const last = this.#minutes.at(-1)
    if (last && now >= last.at && now < last.at + MINUTE_MS) return last
    const minute = new Minute(now - (now % MINUTE_MS))
    this.#minutes.push(minute)
    return minute
  }
}

const seriesOf = (
  projectId: string,
  metric: UsageMetric,
  dimension: UsageDimension,
  key: string,
): Series => ({
  projectId,
  metric,
  dimension,
  key,
  bucket: 0,
})

/** The counts of a minute, with the sums of each project. */
function pointsOf(minute: Minute): Point[] {
  const sums = new Minute(minute.at)
  const addWithSum = (series: Series, count: number) => {
    sums.add(series, count)
    if (series.dimension !== 'none') sums.add({ ...series, dimension: 'none', key: '' }, count)
  }
  for (const [keyId, counts] of minute.keys)
    for (const metric of KEY_METRICS) {
      if (counts[metric] === 0) continue
      const series = seriesOf(counts.projectId, metric, 'key', keyId)
      // The reasons make up the sum of refusals, since not every refusal is one of a key.
      if (metric === 'refusals') sums.add(series, counts[metric])
      else addWithSum(series, counts[metric])
    }
  for (const { series, count } of minute.others.values()) addWithSum(series, count)
  return [...sums.others.values()].map(({ series, count }) => ({ series, at: minute.at, count }))
}
