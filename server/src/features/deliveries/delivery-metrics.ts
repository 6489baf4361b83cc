import type { Counter, Metrics } from '../../platform/metrics.ts'
import type { ClaimedDelivery } from './send-buffer.ts'
import type { SendResult } from './send-delivery.ts'

export function deliveryMetrics(metrics: Metrics) {
  const attempts = metrics.counter('jeton_delivery_attempts_total', 'Delivery attempts, by outcome.')
  const arrival = metrics.histogram(
    'jeton_delivery_arrival_seconds',
    'Time from the commit of an event to its delivery, if the first attempt succeeded.',
  )()
  const ended: Partial<Record<SendResult['outcome'], Counter>> = {}
  return ({ delivery, event }: ClaimedDelivery, { outcome }: SendResult, now: number): void => {
    ended[outcome] ??= attempts({ outcome })
    ended[outcome].add()
    if (outcome === 'delivered' && delivery.attempts_made === 0)
      arrival.observe(Math.max(0, now - event.created_at) / 1000)
  }
}
