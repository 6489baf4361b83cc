import { MAX_BACKLOGS_SHOWN, OTHER } from '../../contract/metrics.ts'
import type { Counter, Metrics } from '../../platform/metrics.ts'
import type { UsageCounter } from '../usage/index.ts'
import type { Backlog, DestinationBacklog } from './delivery.store.ts'
import type { ClaimedDelivery } from './send-buffer.ts'
import type { SendResult } from './send-delivery.ts'

/** Destinations whose counters are kept, because a lookup by labels costs as much as the rest of counting an attempt. */
const MAX_KEPT = 10_000

type Outcome = SendResult['outcome']

function attemptCounters(metrics: Metrics) {
  const attempts = metrics.counter('jeton_delivery_attempts_total')
  const kept = new Map<string, Partial<Record<Outcome, Counter>>>()
  return ({ id, project_id }: ClaimedDelivery['target'], outcome: Outcome): Counter => {
    let counters = kept.get(id)
    if (!counters) {
      if (kept.size >= MAX_KEPT) kept.clear()
      counters = {}
      kept.set(id, counters)
    }
    counters[outcome] ??= attempts({ project: project_id, destination: id, outcome })
    return counters[outcome]
  }
}

export function deliveryMetrics({ metrics, usage }: { metrics: Metrics; usage: UsageCounter }) {
  const attemptsOf = attemptCounters(metrics)
  const arrival = metrics.histogram('jeton_delivery_arrival_seconds')()
  return ({ delivery, event, target }: ClaimedDelivery, { outcome }: SendResult, now: number): void => {
    attemptsOf(target, outcome).add()
    const isFirstSuccess = outcome === 'delivered' && delivery.attempts_made === 0
    const latencyMs = isFirstSuccess ? Math.max(0, now - event.created_at) : undefined
    if (latencyMs !== undefined) arrival.observe(latencyMs / 1000)
    if (outcome === 'unsent') return
    const { project_id: projectId, id: destinationId } = target
    usage.attempt({ projectId, destinationId, succeeded: outcome === 'delivered', latencyMs })
  }
}

/** Shows the backlog that was read last, in total and by destination. */
export function backlogMetrics(metrics: Metrics) {
  let seen: (Backlog & { readonly at: number }) | undefined
  const ageSeconds = (dueAt: number | null): number =>
    dueAt === null ? 0 : Math.max(0, seen!.at - dueAt) / 1000
  const byDestination = (readValue: (one: DestinationBacklog) => number) => () =>
    largest(seen?.destinations ?? []).map((one) => ({
      labels: { project: one.projectId, destination: one.id },
      value: readValue(one),
    }))
  metrics.read('jeton_deliveries_due', () => seen?.due)
  metrics.read('jeton_deliveries_oldest_due_seconds', () => seen && ageSeconds(seen.oldestDueAt))
  metrics.readMany(
    'jeton_destination_deliveries_due',
    byDestination(({ due }) => due),
  )
  metrics.readMany(
    'jeton_destination_oldest_due_seconds',
    byDestination(({ oldestDueAt }) => ageSeconds(oldestDueAt)),
  )
  return (backlog: Backlog, at: number): void => {
    seen = { ...backlog, at }
  }
}

/** The destinations with the most due deliveries, and the sum of all others. */
export function largest(destinations: readonly DestinationBacklog[]): DestinationBacklog[] {
  const sorted = destinations.toSorted((a, b) => b.due - a.due || a.oldestDueAt - b.oldestDueAt)
  const rest = sorted.splice(MAX_BACKLOGS_SHOWN)
  if (rest.length === 0) return sorted
  const due = rest.reduce((sum, one) => sum + one.due, 0)
  const oldestDueAt = Math.min(...rest.map((one) => one.oldestDueAt))
  return [...sorted, { projectId: OTHER, id: OTHER, due, oldestDueAt }]
}
