import type { Counter, Metrics } from '../../platform/metrics.ts'
import type { UsageCounter } from '../usage/index.ts'
import type { ClaimedDelivery } from './send-buffer.ts'
import type { SendResult } from './send-delivery.ts'

export function deliveryMetrics({ metrics, usage }: { metrics: Metrics; usage: UsageCounter }) {
  const attempts = metrics.counter('jeton_delivery_attempts_total')
  const arrival = metrics.histogram('jeton_delivery_arrival_seconds')()
  const ended: Partial<Record<SendResult['outcome'], Counter>> = {}
  return ({ delivery, event, target }: ClaimedDelivery, { outcome }: SendResult, now: number): void => {
    ended[outcome] ??= attempts({ outcome })
    ended[outcome].add()
    const isFirstSuccess = outcome === 'delivered' && delivery.attempts_made === 0
    const latencyMs = isFirstSuccess ? Math.max(0, now - event.created_at) : undefined
    if (latencyMs !== undefined) arrival.observe(latencyMs / 1000)
    if (outcome === 'unsent') return
    const { project_id: projectId, id: destinationId } = target
    usage.attempt({ projectId, destinationId, succeeded: outcome === 'delivered', latencyMs })
  }
}
