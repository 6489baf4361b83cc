import type { DestinationRow } from '../webhooks/index.ts'
import type { DeliveryRow, DeliveryStatus, StoredStatus } from './delivery.ts'

/** Fields of a destination that determine the status of its deliveries, and its URL. */
export type DestinationState = Pick<DestinationRow, 'id' | 'kind' | 'active' | 'deleted_at' | 'target_url'>

export const DELIVERY_STATUSES: readonly DeliveryStatus[] = [
  'pending',
  'delivered',
  'held',
  'exhausted',
  'cancelled',
]

export const STORED_STATUSES: readonly StoredStatus[] = ['pending', 'delivered', 'exhausted']

/** `failing`: tried, not delivered, still scheduled. */
export type DeliveryState = 'failing'
export const DELIVERY_STATES: readonly DeliveryState[] = ['failing']

/** States that can be recovered: exhausted, or failed with a retry scheduled. */
export type Recoverable = 'exhausted' | 'failing'
export const RECOVERABLE: readonly Recoverable[] = ['exhausted', 'failing']

/** States with an index: a stored status, or the part of `pending` that has been attempted. */
export type StoredState = StoredStatus | DeliveryState

/** Only a pending delivery depends on its destination. A destination without a row counts as deleted. */
export function statusOf(
  { status }: Pick<DeliveryRow, 'status'>,
  destination: DestinationState | undefined,
): DeliveryStatus {
  if (status !== 'pending') return status
  if (!destination || destination.deleted_at !== null) return 'cancelled'
  return destination.active === 1 ? 'pending' : 'held'
}

/** Stored status of the deliveries with this status. */
export const storedAs = (status: DeliveryStatus): StoredStatus =>
  status === 'held' || status === 'cancelled' ? 'pending' : status

export const isFailing = (
  row: Pick<DeliveryRow, 'status' | 'attempts_made'>,
  destination: DestinationState | undefined,
): boolean => row.attempts_made > 0 && statusOf(row, destination) === 'pending'
