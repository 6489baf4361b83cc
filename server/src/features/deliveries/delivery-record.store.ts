import { sql } from 'kysely'
import { type Reader, type Transaction, withinTimes } from '../../platform/database/index.ts'
import type { Attempt, DeliveryRow, DeliveryTables } from './delivery.ts'
import { type DeliveryHead, HEAD, isIn, type ListReader } from './delivery-list.store.ts'
import type { Recoverable } from './delivery-status.ts'
import { type FailureFilter, hasFailed } from './failure.store.ts'

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

export const listAttempts = (reader: Reader, delivery: DeliveryRow): Promise<Attempt[]> =>
  reader
    .read<DeliveryTables>()
    .selectFrom('attempts')
    .selectAll()
    .where('project_id', '=', delivery.project_id)
    .where('delivery_id', '=', delivery.id)
    .orderBy('number')
    .execute()

export interface DeliveryContext {
  readonly id: string
  /** Null once the event has been removed. */
  readonly event_kind: string | null
  readonly last_attempt: Pick<Attempt, 'at' | 'status' | 'error'> | null
}

interface ContextRow {
  readonly id: string
  readonly kind: string | null
  readonly at: number | null
  readonly status: number | null
  readonly error: string | null
}

/**
 * Reads the event kind and last attempt that lists show. The last attempt has the number `attempts_made`. Each subquery
 * seeks one key: for a join, PostgreSQL may read all events of the project first.
 */
export async function findContexts(
  reader: Reader,
  projectId: string,
  rows: readonly DeliveryHead[],
): Promise<DeliveryContext[]> {
  if (rows.length === 0) return []
  const shown = rows.map(
    ({ id, event_id, attempts_made }) =>
      sql`(cast(${id} as text), cast(${event_id} as text), cast(${attempts_made} as bigint))`,
  )
  const lastAttempt = (column: 'at' | 'status' | 'error') => sql`(select ${sql.ref(column)} from attempts
    where project_id = ${projectId} and delivery_id = shown.id and number = shown.attempts_made) as ${sql.ref(column)}`
  const found = sql<ContextRow>`
    with shown(id, event_id, attempts_made) as (values ${sql.join(shown)})
    select shown.id,
      (select kind from events where project_id = ${projectId} and id = shown.event_id) as kind,
      ${lastAttempt('at')}, ${lastAttempt('status')}, ${lastAttempt('error')}
    from shown`
  const contexts = (await found.execute(reader.read<DeliveryTables>() as never)).rows
  return contexts.map(({ id, kind, at, status, error }) => ({
    id,
    event_kind: kind,
    last_attempt: at === null ? null : { at, status, error },
  }))
}

/** Returns undefined if the delivery no longer exists. */
export async function countAttempts(
  reader: Reader,
  projectId: string,
  id: string,
): Promise<number | undefined> {
  const row = await reader
    .read<DeliveryTables>()
    .selectFrom('deliveries')
    .select('attempts_made')
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .executeTakeFirst()
  return row?.attempts_made
}

export const listDeliveriesOfEvent = (
  reader: Reader,
  projectId: string,
  eventId: string,
): Promise<DeliveryHead[]> => listDeliveriesOfEvents(reader, projectId, [eventId])

export const listDeliveriesOfEvents = (
  reader: Reader,
  projectId: string,
  eventIds: readonly string[],
): Promise<DeliveryHead[]> =>
  reader
    .read<DeliveryTables>()
    .selectFrom('deliveries')
    .select(HEAD)
    .where('project_id', '=', projectId)
    .where('event_id', 'in', eventIds)
    .execute()

export interface RecoverableRun {
  readonly projectId: string
  readonly destinationId: string
  readonly state: Recoverable
  readonly failure: FailureFilter
  /** Created between these times. */
  readonly from?: number | undefined
  readonly to?: number | undefined
  /** The last of the page before. */
  readonly after?: Pick<DeliveryRow, 'created_at' | 'id'> | undefined
}

export interface RecoverableRow
  extends Pick<DeliveryRow, 'id' | 'created_at' | 'status' | 'next_attempt_at' | 'claim_id'> {
  /** Time of the last failed attempt. */
  readonly failed_at: number | null
}

/** One page of a destination, oldest first. */
export const listRecoverable = (
  reader: ListReader,
  { projectId, destinationId, state, failure, after, ...period }: RecoverableRun,
  limit: number,
): Promise<RecoverableRow[]> =>
  reader
    .read<DeliveryTables>()
    .selectFrom('deliveries')
    .select(['id', 'created_at', 'status', 'next_attempt_at', 'claim_id'])
    .select((eb) => {
      const tried = eb
        .selectFrom('attempts')
        .select('at')
        .where('attempts.project_id', '=', projectId)
        .whereRef('delivery_id', '=', 'deliveries.id')
        .whereRef('number', '=', 'deliveries.attempts_made')
      return eb.fn.coalesce('settled_at', tried).as('failed_at')
    })
    .where('project_id', '=', projectId)
    .where(isIn(state))
    .where('destination_id', '=', destinationId)
    .where(hasFailed(reader, failure))
    .where(withinTimes(period, 'created_at'))
    .$if(after !== undefined, (query) =>
      query.where((eb) => eb(eb.refTuple('created_at', 'id'), '>', eb.tuple(after!.created_at, after!.id))),
    )
    .orderBy('created_at')
    .orderBy('id')
    .limit(limit)
    .execute()

/** Those that exist, in any order. */
export const findDeliveryHeads = (
  reader: Reader,
  projectId: string,
  ids: readonly string[],
): Promise<DeliveryHead[]> =>
  reader
    .read<DeliveryTables>()
    .selectFrom('deliveries')
    .select(HEAD)
    .where('project_id', '=', projectId)
    .where('id', 'in', ids)
    .execute()

/**
 * Waits for the lock of a single delivery. Of several, it skips those that are locked, because they are being claimed or
 * settled, and waiting for each other's rows would deadlock.
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
