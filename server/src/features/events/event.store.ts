import { sql } from 'kysely'
import type { EventChannel, StoredKind } from '../../contract/event-kinds.ts'
import {
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
  /** Null until its deliveries have been written. */
  fanned_out_at: number | null
}

export interface EventTables {
  events: EventRow
}

/** An event without what it tells: lists would otherwise grow with what callers put into metadata. */
export type EventHead = Omit<EventRow, 'data'>

const HEAD = [
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
  'fanned_out_at',
] as const

/** Topic of the wake-up after every event that is to be fanned out. */
export const EVENTS_WRITTEN = 'events'

export async function insertEvent(tx: Transaction, row: EventRow): Promise<void> {
  await tx.write<EventTables>().insertInto('events').values(row).execute()
  await tx.wake(EVENTS_WRITTEN)
}

export const findEvent = (reader: Reader, projectId: string, id: string): Promise<EventRow | undefined> =>
  reader
    .read<EventTables>()
    .selectFrom('events')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .executeTakeFirst()

/** What a longer event tells is read when it is sent, and not before. */
const SHORT_BYTES = 64 * 1024

/** One that waits to be fanned out, with what it tells where that is short. */
export interface WaitingEvent extends EventHead {
  readonly data: string | null
}

const oldestWaiting = (reader: Reader, most: number) =>
  reader
    .read<EventTables>()
    .selectFrom('events')
    .select(HEAD)
    .select(
      sql<string | null>`case when octet_length(data) <= ${sql.lit(SHORT_BYTES)} then data end`.as('data'),
    )
    .where('fanned_out_at', 'is', null)
    .orderBy('created_at')
    .orderBy('id')
    .limit(most)

/** The oldest events whose deliveries are still to be written. */
export const listWaitingEvents = (reader: Reader, most: number): Promise<WaitingEvent[]> =>
  oldestWaiting(reader, most).execute()

/** The same, held until the end of the transaction; what another worker holds is left out. */
export const claimWaitingEvents = (tx: Transaction, most: number): Promise<WaitingEvent[]> =>
  tx.claim(oldestWaiting(tx, most)).execute()

/** Ids of what waits in a project; at most `most`. */
export async function listWaitingEventIds(
  reader: Reader,
  projectId: string,
  most: number,
): Promise<string[]> {
  const rows = await reader
    .read<EventTables>()
    .selectFrom('events')
    .select('id')
    .where('fanned_out_at', 'is', null)
    .where('project_id', '=', projectId)
    .limit(most)
    .execute()
  return rows.map(({ id }) => id)
}

/** On SQLite that is part of the program which writes what they are fanned out to. */
export async function markFannedOutOnPostgres(
  tx: Transaction,
  events: readonly EventHead[],
  now: number,
): Promise<void> {
  const which = JSON.stringify(events.map(({ project_id, id }) => ({ project_id, id })))
  await sql`update events e set fanned_out_at = ${now} from json_to_recordset(${which}::text::json) as f(project_id text, id text)
    where e.project_id = f.project_id and e.id = f.id`.execute(tx.write<EventTables>())
}

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
): Promise<Rows<EventHead>> {
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
    .where('project_id', '=', filter.projectId)
    .where('id', 'in', shown)
    .orderBy(unindexed('created_at'), 'desc')
    .orderBy('id', 'desc')
    .execute()
  return { rows, total }
}

/** At most `most` of a project that is gone; how many there were. */
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
