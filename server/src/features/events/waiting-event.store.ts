import { sql } from 'kysely'
import type { Reader, Transaction } from '../../platform/database/index.ts'
import { type EventHead, type EventTables, HEAD } from './event.store.ts'

/** What a longer event tells is read when it is sent, and not before. */
const SHORT_BYTES = 64 * 1024

/** One that waits to be fanned out, with what it tells where that is short. */
export interface WaitingEvent extends EventHead {
  readonly data: string | null
}

/** Those that nobody holds, oldest first. */
export interface Looked {
  /** From this time on: what is before it is known to be gone. */
  readonly from: number
  readonly most: number
  readonly leaseMs: number
}

/** Ids of what waits in a project; at most `most`. */
export async function listWaitingEventIds(
  reader: Reader,
  projectId: string,
  most: number,
): Promise<string[]> {
  const rows = await reader
    .read<EventTables>()
    .selectFrom('waiting_events')
    .select('event_id')
    .where('project_id', '=', projectId)
    .limit(most)
    .execute()
  return rows.map(({ event_id }) => event_id)
}

/** On SQLite: read beside the one writer. */
export const listFreeEvents = (
  reader: Reader,
  { from, most, leaseMs }: Looked,
  now: number,
): Promise<WaitingEvent[]> =>
  reader
    .read<EventTables>()
    .selectFrom('waiting_events as w')
    .innerJoin('events as e', (join) =>
      join.onRef('e.project_id', '=', 'w.project_id').onRef('e.id', '=', 'w.event_id'),
    )
    .select(HEAD.map((name) => `e.${name}` as const))
    .select(
      sql<string | null>`case when octet_length(e.data) <= ${sql.lit(SHORT_BYTES)} then e.data end`.as(
        'data',
      ),
    )
    .where('w.created_at', '>=', from)
    // A lease that lies further ahead than any can, also where another process reads the clock a little later, was given before
    // the clock was set back, and is over.
    .where((eb) => eb.or([eb('w.free_at', '<=', now), eb('w.free_at', '>', now + 2 * leaseMs)]))
    .orderBy('w.created_at')
    .orderBy('w.project_id')
    .orderBy('w.event_id')
    .limit(most)
    .execute()

/** On PostgreSQL: held by this claim until it is let go or its lease ends. What another worker holds is left out. */
export async function claimFreeEvents(
  tx: Transaction,
  { from, most, leaseMs }: Looked,
  claimId: string,
): Promise<readonly WaitingEvent[]> {
  const { rows } = await sql<WaitingEvent>`
    with clock as materialized (select jeton_now() as now),
    free as (
      select created_at, event_id from waiting_events
      where created_at >= ${from}::bigint and
        (free_at <= (select now from clock) or free_at > (select now from clock) + ${2 * leaseMs}::bigint)
      order by created_at, project_id, event_id limit ${most}::bigint for update skip locked
    ),
    -- By lists, and one by one (offset 0): joined, sooner or later each would be compared with each.
    taken as (
      update waiting_events set claim_id = ${claimId}::text, free_at = (select now from clock) + ${leaseMs}::bigint
      where created_at = any(array(select created_at from free)) and event_id = any(array(select event_id from free))
      returning project_id, event_id
    )
    select e.* from taken t cross join lateral (
      select ${sql.join(HEAD.map((name) => sql.ref(name)))},
        case when octet_length(data) <= ${sql.lit(SHORT_BYTES)} then data end as data
      from events where project_id = t.project_id and id = t.event_id offset 0
    ) e
    order by e.created_at, e.project_id, e.id`.execute(tx.write<EventTables>())
  return rows
}
