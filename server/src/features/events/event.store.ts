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
  /** Of the specification that `data` follows. */
  version: string
  /** The customer that it is about. */
  entity_id: string
  /** The loyalty campaign, where there is one: its distributions are told. */
  campaign_id: string | null
  /** Request id of the call that caused it. */
  group_id: string | null
  channel: EventChannel
  key_name: string | null
  key_app_id: string | null
  /** JSON, byte for byte as it will be sent. */
  data: string
  /** When it happened; earlier than `created_at` where it was reported afterwards. */
  occurred_at: number
  created_at: number
}

/** An event whose deliveries are not written yet. */
export interface OutboxRow {
  created_at: number
  project_id: string
  event_id: string
}

export interface EventTables {
  events: EventRow
  outbox: OutboxRow
}

/** An event without what it tells: lists would otherwise grow with what callers put into metadata. */
export type EventHead = Omit<EventRow, 'data'>

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

/** Topic that is notified after every event to fan out. */
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

/** An event, and its own id once more while it waits to be fanned out. */
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

export interface EventFilter {
  readonly projectId: string
  readonly kind?: StoredKind | undefined
  readonly entity?: string | undefined
}

/** The ids of a page come from an index alone: what lies before a page is passed without reading it. */
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

/** At most `most` of a project that is gone; how many there were. */
export async function deleteSomeWaiting(tx: Transaction, projectId: string, most: number): Promise<number> {
  const key = sql`created_at, project_id, event_id`
  const { numAffectedRows } = await sql`
    delete from outbox where (${key}) in
      (select ${key} from outbox where project_id = ${projectId} limit ${most})`.execute(
    tx.write<EventTables>(),
  )
  return Number(numAffectedRows)
}

/** As with what waits. */
export async function deleteSomeEvents(tx: Transaction, projectId: string, most: number): Promise<number> {
  const some = tx
    .read<EventTables>()
    .selectFrom('events')
    .select('id')
    .where('project_id', '=', projectId)
    .limit(most)
  const { numDeletedRows } = await tx
    .write<EventTables>()
    .deleteFrom('events')
    .where('project_id', '=', projectId)
    .where('id', 'in', some)
    .executeTakeFirst()
  return Number(numDeletedRows)
}
