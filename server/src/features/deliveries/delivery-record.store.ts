import type { Reader, Transaction } from '../../platform/database/index.ts'
import type { Attempt, DeliveryRow, DeliveryTables } from './delivery.ts'
import { type DeliveryHead, HEAD } from './delivery-runs.store.ts'

export const findDelivery = (
  reader: Reader,
  projectId: string,
  id: string,
): Promise<DeliveryRow | undefined> =>
  reader
    .read<DeliveryTables>()
    .selectFrom('deliveries')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .executeTakeFirst()

/** The first may have come with the delivery. */
export async function listAttempts(reader: Reader, delivery: DeliveryRow): Promise<Attempt[]> {
  const rows = await reader
    .read<DeliveryTables>()
    .selectFrom('attempts')
    .selectAll()
    .where('project_id', '=', delivery.project_id)
    .where('delivery_id', '=', delivery.id)
    .orderBy('number')
    .execute()
  return delivery.first_attempt === null ? rows : [JSON.parse(delivery.first_attempt), ...rows]
}

export const listDeliveriesOfEvent = (
  reader: Reader,
  projectId: string,
  eventId: string,
): Promise<DeliveryHead[]> =>
  reader
    .read<DeliveryTables>()
    .selectFrom('deliveries')
    .select(HEAD)
    .where('project_id', '=', projectId)
    .where('event_id', '=', eventId)
    .execute()

export interface ExhaustedRun {
  readonly projectId: string
  readonly destinationId: string
  /** The last of the page before. */
  readonly after?: Pick<DeliveryRow, 'created_at' | 'id'> | undefined
}

/** One page of what is exhausted of a destination, oldest first. */
export const listExhausted = (
  reader: Reader,
  { projectId, destinationId, after }: ExhaustedRun,
  most: number,
): Promise<Pick<DeliveryRow, 'id' | 'created_at' | 'settled_at'>[]> =>
  reader
    .read<DeliveryTables>()
    .selectFrom('deliveries')
    .select(['id', 'created_at', 'settled_at'])
    .where('project_id', '=', projectId)
    .where('status', '=', 'exhausted')
    .where('destination_id', '=', destinationId)
    .$if(after !== undefined, (query) =>
      query.where((eb) => eb(eb.refTuple('created_at', 'id'), '>', eb.tuple(after!.created_at, after!.id))),
    )
    .orderBy('created_at')
    .orderBy('id')
    .limit(most)
    .execute()

/**
 * One is waited for. Of several, those that someone else holds at this moment are left out: they are being claimed or
 * settled, so they are under way, and two who wait for each other's rows would never end.
 */
export function lockDeliveries(
  tx: Transaction,
  projectId: string,
  ids: readonly string[],
): Promise<DeliveryHead[]> {
  const rows = tx
    .write<DeliveryTables>()
    .selectFrom('deliveries')
    .select(HEAD)
    .where('project_id', '=', projectId)
    .where('id', 'in', ids)
  return (ids.length === 1 ? tx.lock(rows) : tx.claim(rows)).execute()
}

export async function updateDeliveries(
  tx: Transaction,
  projectId: string,
  { ids, change }: { ids: readonly string[]; change: Partial<DeliveryRow> },
): Promise<void> {
  if (ids.length === 0) return
  await tx
    .write<DeliveryTables>()
    .updateTable('deliveries')
    .set(change)
    .where('project_id', '=', projectId)
    .where('id', 'in', ids)
    .execute()
}
