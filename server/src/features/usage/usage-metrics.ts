import { NO_PROJECT } from '../../contract/metrics.ts'
import type { Counter, Metrics } from '../../platform/metrics.ts'

/** Counters of one project, kept by the counts of a key so that a request costs no lookup by labels. */
export interface ProjectCounters {
  readonly tokensIssued: Counter
  readonly active: Counter
  readonly inactive: Counter
  readonly calls: Counter
}

/** Counts for Prometheus what `UsageCounter` counts for the store. */
export function createUsageMetrics(metrics: Metrics) {
  const tokensIssued = metrics.counter('jeton_tokens_issued_total')
  const tokensRefused = metrics.counter('jeton_tokens_refused_total')
  const introspections = metrics.counter('jeton_introspections_total')
  const calls = metrics.counter('jeton_calls_total')
  const refusals = metrics.counter('jeton_refusals_total')
  const redemptions = metrics.counter('jeton_redemptions_total')
  return {
    ofProject(project: string): ProjectCounters {
      // Set before the first refusal, because `increase` misses the first increment of a new series.
      tokensRefused({ project, reason: 'token_limit_reached' }).add(0)
      return {
        tokensIssued: tokensIssued({ project }),
        active: introspections({ project, verdict: 'active' }),
        inactive: introspections({ project, verdict: 'inactive' }),
        calls: calls({ project }),
      }
    },
    tokenRefused: (reason: string, project = NO_PROJECT) => tokensRefused({ project, reason }).add(),
    refusal: (reason: string, project = NO_PROJECT) => refusals({ project, reason }).add(),
    redemption: (project: string) => redemptions({ project }).add(),
  }
}
