import { type ExpressionBuilder, sql } from 'kysely'
import { countUpTo, type Database, type Reader, type Transaction } from '../../platform/database/index.ts'
import type { EventTables } from '../events/index.ts'
import { type DestinationRow, finishRelease, listReleased } from '../webhooks/index.ts'
import type { DeliveryRow, DeliveryTables } from './delivery.ts'
import { LEASE_MS } from './delivery-queue.ts'
import { isActive, PENDING, QUEUES, queuesOf } from './queues.store.ts'

/** Topic of the notification that deliveries have become due. */
export const DELIVERIES_DUE = 'deliveries'

/** Small transactions, because SQLite has one writer. */
const ROWS_PER_BATCH = 500

export async function insertDelivery(tx: Transaction, row: DeliveryRow): Promise<void> {
  await tx.write<DeliveryTables>().insertInto('deliveries').values(row).execute()
}

/** Makes the held deliveries of enabled destinations due now, in small transactions. */
export async function resumeHeld(db: Database): Promise<boolean> {
  const released = await listReleased(db)
  for (const destination of released) {
    let moved: number
    do moved = await db.transaction((tx) => makeDueBatch(tx, destination))
    while (moved === ROWS_PER_BATCH)
    await db.transaction((tx) => finishRelease(tx, destination))
  }
  return released.length > 0
}

async function makeDueBatch(tx: Transaction, { project_id, id }: DestinationRow): Promise<number> {
  const now = await tx.now()
  const waiting = tx
    .read<DeliveryTables>()
    .selectFrom('deliveries')
    .select('id')
    .where('status', '=', sql.lit('pending'))
    .where('project_id', '=', project_id)
    .where('destination_id', '=', id)
    .where('next_attempt_at', '>', now)
    .where((eb) => isUnclaimed(eb, now))
    .limit(ROWS_PER_BATCH)
  const { numUpdatedRows } = await tx
    .write<DeliveryTables>()
    .updateTable('deliveries')
    .set({ next_attempt_at: now })
    .where('project_id', '=', project_id)
    .where('id', 'in', waiting)
    // Checked again: the delivery may have been claimed while this waited for its row.
    .where('next_attempt_at', '>', now)
    .where((eb) => isUnclaimed(eb, now))
    .executeTakeFirst()
  return Number(numUpdatedRows)
}

/** A lease ends at most this far ahead. A later end was set before the clock was set back, and counts as expired. */
const isUnclaimed = (eb: ExpressionBuilder<DeliveryTables, 'deliveries'>, now: number) =>
  eb.or([eb('claim_id', 'is', null), eb('next_attempt_at', '>', now + LEASE_MS)])

/** Counting stops here for each destination. */
const MAX_COUNTED = 1_000

export interface DestinationBacklog {
  readonly id: string
  readonly projectId: string
  /** Up to 1,000 are counted. */
  readonly due: number
  readonly oldestDueAt: number
}

export interface Backlog {
  /** Up to 1,000 of each destination are counted. */
  readonly due: number
  readonly oldestDueAt: number | null
  /** The destinations that have due deliveries. */
  readonly destinations: readonly DestinationBacklog[]
}

/** Deliveries `x` of the queue `q`. */
const QUEUED = sql`from deliveries x
  where x.status = 'pending' and x.project_id = q.project_id and x.destination_id = q.destination_id`

/** Counts due deliveries; held and cancelled ones are not due. One index seek per queue, plus the rows it counts. */
export async function readBacklog(reader: Reader, now: number): Promise<Backlog> {
  // For a claimed delivery the next attempt is the end of its lease, which is in the future.
  const due = sql`${QUEUED} and x.next_attempt_at <= ${now}`
  const backlog = sql<DestinationBacklog>`
    with recursive ${queuesOf(PENDING)}
    select * from (
      select q.destination_id as "id", q.project_id as "projectId",
        (select min(x.next_attempt_at) ${due}) as "oldestDueAt",
        (select count(*) from (select 1 ${due} limit ${MAX_COUNTED}) as counted) as "due"
      from ${QUEUES} and ${isActive}
    ) as queues where "oldestDueAt" is not null`
  const { rows: destinations } = await backlog.execute(reader.read<DeliveryTables>() as never)
  return {
    due: destinations.reduce((sum, { due }) => sum + due, 0),
    oldestDueAt: destinations.reduce<number | null>(
      (oldest, { oldestDueAt }) => Math.min(oldest ?? oldestDueAt, oldestDueAt),
      null,
    ),
    destinations,
  }
}

/** Counts deliveries that a worker holds: claimed, with a lease that has not ended. One index range per queue. */
export async function countInFlight(reader: Reader, now: number): Promise<number> {
  const inFlight = sql`${QUEUED} and x.next_attempt_at > ${now} and x.next_attempt_at <= ${now + LEASE_MS}
    and x.claim_id is not null`
  const counted = sql<{ total: number | null }>`
    with recursive ${queuesOf(PENDING)}
    select sum((select count(*) ${inFlight})) as total from ${QUEUES}`
  const { rows } = await counted.execute(reader.read<DeliveryTables>() as never)
  return Number(rows[0]!.total ?? 0)
}

/** Counts events that are still in the outbox, up to 10,000. */
export const countWaitingEvents = (reader: Reader): Promise<number> =>
  countUpTo(reader, reader.read<EventTables>().selectFrom('outbox'))
