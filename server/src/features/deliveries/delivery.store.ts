import { type ExpressionBuilder, sql } from 'kysely'
import { countUpTo, type Database, type Reader, type Transaction } from '../../platform/database/index.ts'
import type { EventTables } from '../events/index.ts'
import {
  type DestinationRow,
  type DestinationTables,
  finishRelease,
  listReleased,
} from '../webhooks/index.ts'
import type { DeliveryRow, DeliveryTables } from './delivery.ts'
import { LEASE_MS } from './delivery-queue.ts'

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

/** Counts due deliveries; held and cancelled ones are not due. One index seek per destination, plus the rows it counts. */
export async function readBacklog(reader: Reader, now: number): Promise<Backlog> {
  const rows = await dueQueues(reader, now).where('oldestDueAt', 'is not', null).execute()
  const destinations = rows.map((row) => ({ ...row, due: row.due!, oldestDueAt: row.oldestDueAt! }))
  return {
    due: destinations.reduce((sum, { due }) => sum + due, 0),
    oldestDueAt: destinations.reduce<number | null>(
      (oldest, { oldestDueAt }) => Math.min(oldest ?? oldestDueAt, oldestDueAt),
      null,
    ),
    destinations,
  }
}

const dueQueues = (reader: Reader, now: number) =>
  reader
    .read<DeliveryTables & DestinationTables>()
    .selectFrom((from) =>
      from
        .selectFrom('destinations as d')
        .where('d.active', '=', 1)
        .where('d.deleted_at', 'is', null)
        .select((eb) => {
          const due = eb
            .selectFrom('deliveries as x')
            .where('x.status', '=', sql.lit('pending'))
            .whereRef('x.project_id', '=', 'd.project_id')
            .whereRef('x.destination_id', '=', 'd.id')
            .where('x.next_attempt_at', '<=', now)
          // For a claimed delivery this is the end of its lease, which is in the future.
          const some = due.select('x.id').limit(MAX_COUNTED).as('some')
          return [
            'd.id',
            'd.project_id as projectId',
            due.select(({ fn }) => fn.min('x.next_attempt_at').as('at')).as('oldestDueAt'),
            eb.selectFrom(some).select(eb.fn.countAll<number>().as('n')).as('due'),
          ]
        })
        .as('queues'),
    )
    .selectAll()

/** Counts deliveries that a worker holds: claimed, with a lease that has not ended. One index range per destination. */
export async function countInFlight(reader: Reader, now: number): Promise<number> {
  const { total } = await reader
    .read<DeliveryTables & DestinationTables>()
    .selectFrom('destinations as d')
    .innerJoin('deliveries as x', (join) =>
      join.onRef('x.project_id', '=', 'd.project_id').onRef('x.destination_id', '=', 'd.id'),
    )
    .where('x.status', '=', sql.lit('pending'))
    .where('x.next_attempt_at', '>', now)
    .where('x.next_attempt_at', '<=', now + LEASE_MS)
    .where('x.claim_id', 'is not', null)
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  return total
}

/** Counts events that are still in the outbox, up to 10,000. */
export const countWaitingEvents = (reader: Reader): Promise<number> =>
  countUpTo(reader, reader.read<EventTables>().selectFrom('outbox'))
