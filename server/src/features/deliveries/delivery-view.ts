import { isoTime, isoTimeOrNull } from '../../platform/http/index.ts'
import type { EventRow } from '../events/index.ts'
import type { Attempt, DeliveryRow } from './delivery.ts'
import type { DeliveryHead } from './delivery-list.store.ts'
import type { DeliveryContext } from './delivery-record.store.ts'
import { type DestinationState, statusOf } from './delivery-status.ts'
import { payloadOf } from './payload.ts'

/** A delivery with the records that its status, URL, event kind and last attempt come from. */
export interface ListedDelivery {
  readonly row: DeliveryHead
  readonly destination: DestinationState | undefined
  readonly context: DeliveryContext | undefined
}

/** View for the audit log. Only a pending delivery has a next attempt; held and cancelled ones have none. */
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

/** View for all responses. */
export function listedView({ row, destination, context }: ListedDelivery) {
  const last = context?.last_attempt
  return {
    ...deliveryView(row, destination),
    event_kind: context?.event_kind ?? null,
    destination_url: destination?.target_url ?? null,
    last_attempt: last ? { at: isoTime(last.at), status: last.status, error: last.error } : null,
  }
}

export const attemptView = (row: Attempt) => ({
  at: isoTime(row.at),
  duration_ms: row.duration_ms,
  status: row.status,
  response_body: row.response_body,
  error: row.error,
})

interface WholeDelivery extends ListedDelivery {
  readonly row: DeliveryRow
  readonly event: EventRow
  readonly attempts: readonly Attempt[]
}

/** Adds every attempt and the payload. The body is compact JSON, so serialising `payload` compactly restores its bytes. */
export const wholeDeliveryView = ({ event, attempts, ...listed }: WholeDelivery) => ({
  ...listedView(listed),
  attempts: attempts.map(attemptView),
  payload: JSON.parse(payloadOf(listed.row, event.data)) as unknown,
})
