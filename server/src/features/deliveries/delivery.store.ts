import { type ExpressionBuilder, sql } from 'kysely'
import { BY_KEY, type Database, type Reader, type Transaction } from '../../platform/database/index.ts'
import type { EventHead, EventTables } from '../events/index.ts'
import {
  type DestinationRow,
  type DestinationTables,
  finishRelease,
  listReleased,
} from '../webhooks/index.ts'
import type { DeliveryRow, DeliveryTables } from './delivery.ts'
import { LEASE_MS } from './exchange.ts'

/** Topic of the wake-up after deliveries have become due. */
export const DELIVERIES_DUE = 'deliveries'

/** So that nobody waits long for the one writer of SQLite. */
const ROWS_AT_ONCE = 500

export async function insertDelivery(tx: Transaction, row: DeliveryRow): Promise<void> {
  await tx.write<DeliveryTables>().insertInto('deliveries').values(row).execute()
}

/**
 * For the rest of a transaction: look up by key, whatever the planner knows of the tables; and nobody waits for the disk.
 * Should the database lose the last moment, the events wait again, and what was sent is sent again.
 */
export const PREPARE_FAN_OUT = `${BY_KEY}, set_config('synchronous_commit', 'off', true)`

/** An event that a claim holds, as it waits. */
type Held = Pick<EventHead, 'created_at' | 'id'>

// By lists and not by a join: sooner or later the planner would compare each with each.
const heldBy = (claimId: string, events: readonly Held[]) =>
  sql`created_at = any(${events.map(({ created_at }) => created_at)}::bigint[])
    and event_id = any(${events.map(({ id }) => id)}::text[]) and claim_id = ${claimId}`

/** They wait no more. Those that the claim still held. */
export async function releaseEventsOnPostgres(
  tx: Transaction,
  claimId: string,
  events: readonly Held[],
): Promise<Set<string>> {
  await sql.raw(PREPARE_FAN_OUT).execute(tx.write<EventTables>())
  const { rows } = await sql<{
    event_id: string
  }>`delete from waiting_events where ${heldBy(claimId, events)} returning event_id`.execute(
    tx.write<EventTables>(),
  )
  return new Set(rows.map(({ event_id }) => event_id))
}

/** They wait, and nobody holds them. */
export async function freeEventsOnPostgres(
  tx: Transaction,
  claimId: string,
  events: readonly Held[],
): Promise<void> {
  await sql`update waiting_events set claim_id = null, free_at = created_at where ${heldBy(claimId, events)}`.execute(
    tx.write<EventTables>(),
  )
}

/** One parameter for all rows: with one for each value the statement took longer to make and to read than to run. */
export async function insertAllOnPostgres<Table extends 'deliveries' | 'publications'>(
  tx: Transaction,
  table: Table,
  rows: readonly DeliveryTables[Table][],
): Promise<void> {
  if (rows.length === 0) return
  const [into, json] = [sql.table(table), JSON.stringify(rows)]
  await sql`insert into ${into} select * from json_populate_recordset(null::${into}, ${json}::text::json)`.execute(
    tx.write<DeliveryTables>(),
  )
}

/** What was held goes out once its destination is enabled, also what would have waited for its next time. In small transactions. */
export async function releaseHeld(db: Database): Promise<boolean> {
  const released = await listReleased(db)
  for (const destination of released) {
    let moved: number
    do moved = await db.transaction((tx) => makeSomeDue(tx, destination))
    while (moved === ROWS_AT_ONCE)
    await db.transaction((tx) => finishRelease(tx, destination))
  }
  return released.length > 0
}

async function makeSomeDue(tx: Transaction, { project_id, id }: DestinationRow): Promise<number> {
  const now = await tx.now()
  const waiting = tx
    .read<DeliveryTables>()
    .selectFrom('deliveries')
    .select('id')
    .where('status', '=', sql.lit('pending'))
    .where('project_id', '=', project_id)
    .where('destination_id', '=', id)
    .where('next_attempt_at', '>', now)
    .where((eb) => isNotBeingSent(eb, now))
    .limit(ROWS_AT_ONCE)
  const { numUpdatedRows } = await tx
    .write<DeliveryTables>()
    .updateTable('deliveries')
    .set({ next_attempt_at: now })
    .where('project_id', '=', project_id)
    .where('id', 'in', waiting)
    // Once more: it may have been claimed while this waited for its row.
    .where('next_attempt_at', '>', now)
    .where((eb) => isNotBeingSent(eb, now))
    .executeTakeFirst()
  return Number(numUpdatedRows)
}

/** A lease lies at most this far ahead. One that lies further was given before the clock was set back, and is over. */
const isNotBeingSent = (eb: ExpressionBuilder<DeliveryTables, 'deliveries'>, now: number) =>
  eb.or([eb('claim_id', 'is', null), eb('next_attempt_at', '>', now + LEASE_MS)])

/** More than this many in one queue are not counted one by one. */
const COUNTED_MOST = 1_000

export interface Backlog {
  /** Up to 1,000 of each destination are counted. */
  readonly due: number
  readonly oldestDueAt: number | null
}

/** What should have gone out by now; held and cancelled are not due. One seek for each destination and what it counts. */
export async function readBacklog(reader: Reader, now: number): Promise<Backlog> {
  const row = await reader
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
          // While it is claimed the lease stands here, and it lies ahead.
          const some = due.select('x.id').limit(COUNTED_MOST).as('some')
          return [
            due.select(({ fn }) => fn.min('x.next_attempt_at').as('at')).as('oldest'),
            eb.selectFrom(some).select(eb.fn.countAll<number>().as('n')).as('count'),
          ]
        })
        .as('queues'),
    )
    .select((eb) => [eb.fn.sum<number>('count').as('due'), eb.fn.min('oldest').as('oldest')])
    .executeTakeFirstOrThrow()
  return { due: Number(row.due ?? 0), oldestDueAt: row.oldest ?? null }
}
