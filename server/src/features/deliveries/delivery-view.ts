import { isoTime, isoTimeOrNull } from '../../platform/http/index.ts'
import type { EventRow } from '../events/index.ts'
import type { Attempt, DeliveryRow } from './delivery.ts'
import type { DeliveryHead } from './delivery-runs.store.ts'
import { type DestinationState, statusOf } from './delivery-status.ts'
import { expandShortPayload, payloadOf } from './payload.ts'

/** As outsiders see it. Only what is pending has a next attempt: what is held or cancelled waits for no time. */
export function deliveryView(row: DeliveryHead, destination: DestinationState | undefined) {
  const status = statusOf(row, destination)
  return {
    id: row.id,
    object: 'delivery' as const,
    event_id: row.event_id,
    destination_id: row.destination_id,
    status,
    attempts_made: row.attempts_made,
    next_attempt_at: status === 'pending' ? isoTimeOrNull(row.next_attempt_at) : null,
    created_at: isoTime(row.created_at),
  }
}

const attemptView = (row: Attempt) => ({
  at: isoTime(row.at),
  duration_ms: row.duration_ms,
  status: row.status,
  response_body: row.response_body,
  error: row.error,
})

interface WholeDelivery {
  readonly row: DeliveryRow
  readonly destination: DestinationState | undefined
  readonly event: EventRow
  readonly attempts: readonly Attempt[]
}

/** With every attempt, and what is sent: the bytes are compact JSON, so writing `payload` compactly gives them back. */
export const wholeDeliveryView = ({ row, destination, event, attempts }: WholeDelivery) => ({
  ...deliveryView(row, destination),
  payload: JSON.parse(payloadOf(expandShortPayload(row, event), event.data)) as unknown,
  attempts: attempts.map(attemptView),
})
