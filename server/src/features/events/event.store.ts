import { type ExpressionBuilder, type Kysely, sql } from 'kysely'
import type { EventChannel, StoredKind } from '../../contract/event-kinds.ts'
import {
  compiledQuery,
  countUpTo,
  onPage,
  type Reader,
  type Transaction,
  unindexed,
  withinTimes,
} from '../../platform/database/index.ts'
import type { Page, Rows } from '../../platform/http/index.ts'

export interface EventRow {
  project_id: string
  id: string
  kind: StoredKind
  /** Version of the fields in `data`. */
  version: string
  /** Id of the customer. */
  entity_id: string
  /** Loyalty campaign whose distributions get the event, or null. */
  campaign_id: string | null
  /** Request id of the call that caused the event. */
  group_id: string | null
  channel: EventChannel
  key_name: string | null
  key_app_id: string | null
  /** Trace of the request that caused the event, as `traceparent` of W3C Trace Context. */
  traceparent: string | null
  /** JSON, exactly as it will be sent. */
  data: string
  /** Time of the redemption; earlier than `created_at` if it was reported later. */
  occurred_at: number
  created_at: number
}

/** An event that has no deliveries yet. */
export interface OutboxRow {
  created_at: number
  project_id: string
  event_id: string
}

export interface EventTables {
  events: EventRow
  outbox: OutboxRow
}

/** An event without `data`, which callers can fill with metadata: lists stay small. */
export type EventHead = Omit<EventRow, 'data' | 'traceparent'>

export const HEAD = [
  'project_id',
  'id',
  'kind',
  'version',
  'entity_id',
  'campaign_id',
  'group_id',
  'channel',
  'key_name',
  'key_app_id',
  'occurred_at',
  'created_at',
] as const

/** Topic of the notification after an event is added to the outbox. */
export const EVENTS_WRITTEN = 'events'

const insertEventRow = compiledQuery((db: Kysely<EventTables>, row: EventRow) =>
  db.insertInto('events').values(row),
)
const insertOutboxRow = compiledQuery((db: Kysely<EventTables>, row: OutboxRow) =>
  db.insertInto('outbox').values(row),
)

export async function insertEvent(tx: Transaction, row: EventRow): Promise<void> {
  await insertEventRow(tx, row)
}

/** Puts an event into the outbox and notifies the relay. */
export async function enqueueEvent(tx: Transaction, { project_id, id, created_at }: EventRow): Promise<void> {
  const row = { created_at, project_id, event_id: id }
  await Promise.all([insertOutboxRow(tx, row), tx.notify(EVENTS_WRITTEN)])
}

export const findEvent = (reader: Reader, projectId: string, id: string): Promise<EventRow | undefined> =>
  reader
    .read<EventTables>()
    .selectFrom('events')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .executeTakeFirst()

/** The row of an event in the outbox, for a query of `events`. */
const outboxRowOf = ({ selectFrom }: ExpressionBuilder<EventTables, 'events'>) =>
  selectFrom('outbox as o')
    .select('o.event_id')
    .whereRef('o.created_at', '=', 'events.created_at')
    .whereRef('o.project_id', '=', 'events.project_id')
    .whereRef('o.event_id', '=', 'events.id')

export const isInOutbox = (eb: ExpressionBuilder<EventTables, 'events'>) => eb.exists(outboxRowOf(eb))

/** An event, with its own id in `waiting` while it is in the outbox. */
export type Shown<Row> = Row & { readonly waiting: string | null }

export const findShownEvent = (
  reader: Reader,
  projectId: string,
  id: string,
): Promise<Shown<EventRow> | undefined> =>
  reader
    .read<EventTables>()
    .selectFrom('events')
    .selectAll()
    .select((eb) => outboxRowOf(eb).limit(1).as('waiting'))
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .executeTakeFirst()

/** Several events without their data, in any order. */
export async function findShownEvents(
  reader: Reader,
  projectId: string,
  ids: readonly string[],
): Promise<Map<string, Shown<EventHead>>> {
  if (ids.length === 0) return new Map()
  const rows = await reader
    .read<EventTables>()
    .selectFrom('events')
    .select(HEAD)
    .select((eb) => outboxRowOf(eb).limit(1).as('waiting'))
    .where('project_id', '=', projectId)
    .where('id', 'in', ids)
    .execute()
  return new Map(rows.map((row) => [row.id, row]))
}

export interface EventFilter {
  readonly projectId: string
  readonly kind?: StoredKind | undefined
  readonly entity?: string | undefined
}

/** Finds the ids of a page with an index-only scan, so that skipped rows are not read. */
export async function listEventRows(
  reader: Reader,
  filter: EventFilter,
  page: Page,
): Promise<Rows<Shown<EventHead>>> {
  let query = reader.read<EventTables>().selectFrom('events').where('project_id', '=', filter.projectId)
  if (filter.kind) query = query.where('kind', '=', filter.kind)
  if (filter.entity !== undefined) query = query.where('entity_id', '=', filter.entity)
  const total = await countUpTo(reader, query.where(withinTimes(page, 'created_at')))
  const shown = query
    .select('id')
    .where(onPage(page, ['created_at', 'id']))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit + 1)
    .offset(page.offset)
  const rows = await reader
    .read<EventTables>()
    .selectFrom('events')
    .select(HEAD)
    .select((eb) => outboxRowOf(eb).limit(1).as('waiting'))
    .where('project_id', '=', filter.projectId)
    .where('id', 'in', shown)
    .orderBy(unindexed('created_at'), 'desc')
    .orderBy('id', 'desc')
    .execute()
  return { rows, total }
}

/** Deletes up to `limit` outbox rows of a deleted project, and returns how many. */
export async function deleteSomeWaiting(tx: Transaction, projectId: string, limit: number): Promise<number> {
  const key = sql`created_at, project_id, event_id`
  const { numAffectedRows } = await sql`
    delete from outbox where (${key}) in
      (select ${key} from outbox where project_id = ${projectId} limit ${limit})`.execute(
    tx.write<EventTables>(),
  )
  return Number(numAffectedRows)
}

/** Deletes up to `limit` events of a deleted project, and returns how many. */
export async function deleteSomeEvents(tx: Transaction, projectId: string, limit: number): Promise<number> {
  const some = tx
    .read<EventTables>()
    .selectFrom('events')
    .select('id')
    .where('project_id', '=', projectId)
    .limit(limit)
  const { numDeletedRows } = await tx
    .write<EventTables>()
    .deleteFrom('events')
    .where('project_id', '=', projectId)
    .where('id', 'in', some)
    .executeTakeFirst()
  return Number(numDeletedRows)
}
