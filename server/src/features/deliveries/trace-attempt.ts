import { errorTypeOf, type Tracer } from '../../platform/tracing.ts'
import type { OutgoingDelivery, SendResult } from './send-delivery.ts'

type Send = (delivery: OutgoingDelivery) => Promise<SendResult>

/**
 * Makes every attempt a span in the trace of its event, and sends the id of that span on. Path and query of the target are
 * left out, because they may contain tokens of the receiver.
 */
export const tracedSend =
  (tracer: Tracer, send: Send): Send =>
  async (delivery) => {
    const span = tracer.start('deliver event', {
      kind: 'client',
      parent: delivery.traceparent ?? null,
      attributes: attributesOf(delivery),
    })
    try {
      const { traceparent } = span
      const result = await tracer.within(span, () => send({ ...delivery, traceparent }))
      if (result.status !== null) span.set({ 'http.response.status_code': result.status })
      span.end(result.outcome === 'delivered' ? undefined : String(result.status ?? result.outcome))
      return result
    } catch (error) {
      span.end(errorTypeOf(error))
      throw error
    }
  }

function attributesOf({ deliveryId, kind, attempt, target }: OutgoingDelivery) {
  const { hostname, port, protocol } = new URL(target.target_url)
  return {
    'http.request.method': 'POST',
    'server.address': hostname,
    'server.port': Number(port || (protocol === 'https:' ? 443 : 80)),
    'jeton.delivery.id': deliveryId,
    'jeton.delivery.attempt': attempt,
    'jeton.event.kind': kind,
  }
}
