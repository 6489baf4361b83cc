import { byKey, type SqlConnection } from '../../platform/database/index.ts'
import { PREPARE_FAN_OUT } from './delivery.store.ts'
import { EVENT_COLUMNS, LEASE_MS } from './exchange.ts'
import { LIVE_COLUMNS, SHORT_BYTES, type TakenValues, type Taking } from './taken-events.ts'

const nextQueue = (after: string) => `
  select destination_id, next_attempt_at as due from deliveries
  where status = 'pending' and project_id = ${after}.project_id and destination_id > ${after}.destination_id
  order by project_id, destination_id, next_attempt_at limit 1`

/**
 * What another worker holds is left out. Joined, sooner or later each would be compared with each: so by lists, and one by
 * one. All of it is one row, a column a list: as rows it took the driver three times as long to read, and lists of columns take
 * PostgreSQL half as long to make as lists of rows. All lists have the order in which the events were found.
 */
const TAKE = `
with recursive clock as materialized (select jeton_now() as now),
free as (
  select created_at, event_id from waiting_events
  where created_at >= $2::bigint and
    (free_at <= (select now from clock) or free_at > (select now from clock) + ${2 * LEASE_MS})
  order by created_at, project_id, event_id limit $3::bigint for update skip locked
),
taken as (
  update waiting_events set claim_id = $1::text, free_at = (select now from clock) + ${LEASE_MS}
  where created_at = any(array(select created_at from free)) and event_id = any(array(select event_id from free))
  returning project_id, event_id
),
projects as materialized (select distinct project_id from taken),
-- From queue to queue, never through one: where all goes well there is none.
queues(project_id, destination_id, due) as (
  select project_id, '' collate "C", null::bigint from projects
  union all
  select q.project_id, n.destination_id, n.due from queues q cross join lateral (${nextQueue('q')}) n
),
found as (
  select e.* from taken t cross join lateral (
    select ${EVENT_COLUMNS.join(', ')}, case when octet_length(data) <= ${SHORT_BYTES} then data else '' end as told
    from events where project_id = t.project_id and ${byKey('t.event_id')}
  ) e
)
select (select now from clock) as now,
  (select json_agg(json_build_array(${LIVE_COLUMNS.map((name) => `d.${name}`).join(', ')})) from destinations d
   where d.project_id = any(array(select project_id from projects)) and d.deleted_at is null) as destinations,
  (select json_agg(destination_id) from queues where due <= (select now from clock)) as behind,
  ${EVENT_COLUMNS.map((name) => `json_agg(${name}) as ${name}`).join(', ')},
  string_agg(told, '') as told, json_agg(octet_length(told)) as lengths
from found`

type Columns = Record<(typeof EVENT_COLUMNS)[number], readonly (string | number | null)[]>
type Row = Pick<TakenValues, 'now'> & {
  readonly [Name in 'destinations' | 'behind']: TakenValues[Name] | null
} & (
    | (Columns & { readonly told: string; readonly lengths: readonly number[] })
    // Of nothing there is no list.
    | { readonly told: null }
  )

export async function takeEventsOnPostgres(
  sql: SqlConnection,
  { claimId, from, most }: Taking,
): Promise<TakenValues> {
  // All at once, and waited for once: a statement that fails turns the commit into a rollback.
  const begun = [sql.send('begin'), sql.send(PREPARE_FAN_OUT)]
  const taking = sql.send<Row>(TAKE, [claimId, from, most])
  for (const one of await Promise.allSettled([...begun, taking, sql.send('commit')]))
    if (one.status === 'rejected') throw one.reason
  const row = (await taking)[0]!
  const { now, destinations, behind } = row
  const common = { now, destinations: destinations ?? [], behind: behind ?? [] }
  if (row.told === null) return { ...common, events: [], told: { bytes: Buffer.alloc(0), ends: [] } }
  return { ...common, events: eventsIn(row), told: toldIn(row.told, row.lengths) }
}

const eventsIn = (columns: Columns): TakenValues['events'] =>
  columns.id.map((_, i) => EVENT_COLUMNS.map((name) => columns[name][i]!))

/** Bytes, outside of what the collector has to move while they wait. */
function toldIn(told: string, lengths: readonly number[]): TakenValues['told'] {
  const ends: number[] = []
  for (const length of lengths) ends.push((ends.at(-1) ?? 0) + length)
  return { bytes: Buffer.from(told), ends }
}
