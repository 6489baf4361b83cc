import type { DestinationRow } from '../webhooks/index.ts'
import type { DeliveryRow, DeliveryStatus, StoredStatus } from './delivery.ts'

/** As much of a destination as the status of its deliveries follows from. */
export type DestinationState = Pick<DestinationRow, 'id' | 'kind' | 'active' | 'deleted_at'>

export const DELIVERY_STATUSES: readonly DeliveryStatus[] = [
  'pending',
  'delivered',
  'held',
  'exhausted',
  'cancelled',
]

export const STORED_STATUSES: readonly StoredStatus[] = ['pending', 'delivered', 'exhausted']

/** Only what is pending asks its destination; one that is gone without a trace counts as deleted. */
export function statusOf(
  { status }: Pick<DeliveryRow, 'status'>,
  destination: DestinationState | undefined,
): DeliveryStatus {
  if (status !== 'pending') return status
  if (!destination || destination.deleted_at !== null) return 'cancelled'
  return destination.active === 1 ? 'pending' : 'held'
}

/** Where deliveries of a status are found. */
export const storedAs = (status: DeliveryStatus): StoredStatus =>
  status === 'held' || status === 'cancelled' ? 'pending' : status
