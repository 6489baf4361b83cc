import { type RawBuilder, sql } from 'kysely'
import {
  byKey,
  type Database,
  FORCE_KEY_LOOKUPS,
  type PostgresDatabase,
  type Reader,
  type SqliteDatabase,
  type Transaction,
} from '../../platform/database/index.ts'
import { sibling } from '../../platform/sibling.ts'
import type { EventRow, EventTables } from '../events/index.ts'
import type { PublicationTables } from '../publications/index.ts'
import type { DestinationTables } from '../webhooks/index.ts'
import type { DeliveryTables } from './delivery.ts'
import { EVENT_COLUMNS } from './delivery-queue.ts'
import { type FannedOut, type OutboxBatch, SUBSCRIBER_COLUMNS } from './fan-out.ts'
import type { OutboxRow, RelayInput } from './outbox.sqlite.ts'

/** Limit for the data of one batch, after its first event. */
const MAX_DATA_BYTES = 8 * 1024 * 1024

export interface OutboxRequest {
  readonly limit: number
  /** Earliest event time to read; earlier events are known to be relayed. 0 for all. */
  readonly from: number
}

/** Turns a batch into deliveries. Must be free of side effects, because it may be called again after a conflict. */
export type FanOutBatch = (batch: OutboxBatch) => FannedOut

/**
 * Moves events from the outbox to deliveries in one transaction: an event leaves the outbox with all its deliveries or
 * not at all, whichever process relays it.
 */
export const relayBatch = (db: Database, request: OutboxRequest, fanOut: FanOutBatch): Promise<FannedOut> =>
  db.engine === 'sqlite' ? relayOnSqlite(db, request, fanOut) : relayOnPostgres(db, request, fanOut)

/**
 * For the rest of the transaction: look up rows by key, regardless of table statistics, and do not wait for the disk. If
 * PostgreSQL crashes and loses the commit, the events are in the outbox again and are sent again with the same ids.
 */
const PREPARE_POSTGRES = `${FORCE_KEY_LOOKUPS}, set_config('synchronous_commit', 'off', true)`

const relayOnPostgres = (
  db: PostgresDatabase,
  request: OutboxRequest,
  fanOut: FanOutBatch,
): Promise<FannedOut> =>
  db.transaction(async (tx) => {
    const [, rows, now] = await Promise.all([
      sql.raw(PREPARE_POSTGRES).execute(tx.write<EventTables>()),
      readOutbox(tx, lockedRows(request)),
      tx.now(),
    ])
    const fannedOut = fanOut(await toBatch(tx, rows, { now, limit: request.limit }))
    await Promise.all([
      insertAll(tx, 'deliveries', fannedOut.deliveries),
      insertAll(tx, 'publications', fannedOut.publications),
      deleteRows(tx, toDelete(rows, fannedOut)),
    ])
    return fannedOut
  })

const SQLITE_PROCEDURE = sibling(import.meta.url, './outbox.sqlite')

/** Reads on the reader connection. Events that another process has relayed meanwhile are neither written nor sent. */
async function relayOnSqlite(
  db: SqliteDatabase,
  request: OutboxRequest,
  fanOut: FanOutBatch,
): Promise<FannedOut> {
  const now = await db.now()
  const rows = await readOutbox(db, unlockedRows(request))
  const fannedOut = fanOut(await toBatch(db, rows, { now, limit: request.limit }))
  if (rows.length === 0) return fannedOut
  const { deliveries, publications, claimed } = fannedOut
  const input: RelayInput = { rows: toDelete(rows, fannedOut), deliveries, publications }
  const relayed = new Set(await db.runInWriter<RelayInput, string[]>(SQLITE_PROCEDURE, input))
  return { ...fannedOut, claimed: claimed.filter(({ event }) => relayed.has(event.id)) }
}

/** Skips rows that are locked by another process. */
const lockedRows = ({ from, limit }: OutboxRequest) => sql`(
    select created_at, project_id, event_id from outbox where created_at >= ${from}
    order by created_at, project_id, event_id limit ${limit} for update skip locked
  ) o left join lateral (
    select * from events where project_id = o.project_id and ${sql.raw(byKey('o.event_id'))}
  ) e on true`

const unlockedRows = ({ from, limit }: OutboxRequest) => sql`(
    select created_at, project_id, event_id from outbox where created_at >= ${from}
    order by created_at, project_id, event_id limit ${limit}
  ) o left join events e on e.project_id = o.project_id and e.id = o.event_id`

const BATCH_COLUMNS = sql.raw(
  [
    ...['created_at', 'project_id', 'event_id'].map((name) => `o.${name} as outbox_${name}`),
    ...[...EVENT_COLUMNS, 'data'].map((name) => `e.${name}`),
  ].join(', '),
)

/** Reads rows `o` of the outbox with their events `e`, oldest first, up to the limit of bytes. */
const readOutbox = (reader: Reader, rows: RawBuilder<unknown>): Promise<OutboxRow[]> =>
  reader
    .read<EventTables>()
    .selectFrom(
      sql<OutboxRow & { bytes_before: number }>`(
        select ${BATCH_COLUMNS}, coalesce(sum(octet_length(e.data)) over (
          order by o.created_at, o.project_id, o.event_id rows between unbounded preceding and 1 preceding
        ), 0) as bytes_before
        from ${rows}
      )`.as('batch'),
    )
    .selectAll()
    .where('bytes_before', '<', sql.lit(MAX_DATA_BYTES))
    .orderBy('outbox_created_at')
    .orderBy('outbox_project_id')
    .orderBy('outbox_event_id')
    .execute()

async function toBatch(
  reader: Reader,
  rows: readonly OutboxRow[],
  { now, limit }: { now: number; limit: number },
): Promise<OutboxBatch> {
  const events = rows.filter(({ id }) => id !== null) as never as EventRow[]
  const bytes = events.reduce((sum, { data }) => sum + Buffer.byteLength(data), 0)
  const isFull = rows.length >= limit || bytes >= MAX_DATA_BYTES
  const projectIds = [...new Set(events.map(({ project_id }) => project_id))]
  if (projectIds.length === 0) return { now, events, isFull, destinations: [], withBacklog: [] }
  // Never empty, because neither engine accepts an empty list.
  const campaignIds = [...new Set(events.map(({ campaign_id }) => campaign_id ?? ''))]
  const [destinations, withBacklog] = await Promise.all([
    reader
      .read<DestinationTables>()
      .selectFrom('destinations')
      .select(SUBSCRIBER_COLUMNS)
      .where('project_id', 'in', projectIds)
      .where('deleted_at', 'is', null)
      // A project may have a distribution for each of a thousand campaigns.
      .where((eb) => eb.or([eb('kind', '=', 'webhook'), eb('campaign_id', 'in', campaignIds)]))
      .execute(),
    Promise.all(projectIds.map((projectId) => listWithBacklog(reader, projectId, now))),
  ])
  return { now, events, isFull, destinations, withBacklog: withBacklog.flat() }
}

/** Seeks from one destination's queue to the next, so that a long queue costs no more than a short one. */
async function listWithBacklog(reader: Reader, projectId: string, now: number): Promise<string[]> {
  const pending = sql`from deliveries d where d.status = 'pending' and d.project_id = ${projectId}`
  const withBacklog = sql<{ destination_id: string }>`(
    with recursive q(destination_id) as (
      select (select min(d.destination_id) ${pending})
      union all
      select (select min(d.destination_id) ${pending} and d.destination_id > q.destination_id) from q
      where q.destination_id is not null
    )
    select destination_id from q where destination_id is not null and
      exists (select 1 ${pending} and d.destination_id = q.destination_id and d.next_attempt_at <= ${now})
  )`
  const rows = await reader
    .read<DeliveryTables>()
    .selectFrom(withBacklog.as('with_backlog'))
    .select('destination_id')
    .execute()
  return rows.map(({ destination_id }) => destination_id)
}

/** Outbox rows of the events that were fanned out, and of deleted events. */
function toDelete(rows: readonly OutboxRow[], { events }: FannedOut): OutboxRow[] {
  const done = new Set(events.map(({ id }) => id))
  return rows
    .filter(({ id }) => id === null || done.has(id))
    .map(({ outbox_created_at, outbox_project_id, outbox_event_id, id }) => ({
      ...{ outbox_created_at, outbox_project_id, outbox_event_id, id },
    }))
}

type Inserted = Pick<DeliveryTables, 'deliveries'> & PublicationTables

/**
 * Inserts all rows with one JSON parameter: one parameter per value takes longer to build and to parse than to run. An
 * existing row has the same id and bytes, and must not fail the batch.
 */
async function insertAll<Table extends keyof Inserted>(
  tx: Transaction,
  name: Table,
  rows: readonly Inserted[Table][],
): Promise<void> {
  if (rows.length === 0) return
  const [table, json] = [sql.table(name), JSON.stringify(rows)]
  await sql`insert into ${table} select * from json_populate_recordset(null::${table}, ${json}::text::json)
    on conflict do nothing`.execute(tx.write<DeliveryTables>())
}

/** Finds rows by lists of keys: a join would be planned while the table was empty, and later compare all with all. */
async function deleteRows(tx: Transaction, rows: readonly OutboxRow[]): Promise<void> {
  if (rows.length === 0) return
  await sql`delete from outbox
    where created_at = any(${rows.map((row) => row.outbox_created_at)}::bigint[])
      and event_id = any(${rows.map((row) => row.outbox_event_id)}::text[])`.execute(tx.write<EventTables>())
}
