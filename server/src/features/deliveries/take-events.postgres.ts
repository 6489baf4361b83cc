import { byKey, type SqlConnection } from '../../platform/database/index.ts'
import { PREPARE_FAN_OUT } from './delivery.store.ts'
import { LEASE_MS } from './exchange.ts'
import { EVENT_COLUMNS, LIVE_COLUMNS, SHORT_BYTES, type TakenValues, type Taking } from './taken-events.ts'

const nextQueue = (after: string) => `
  select destination_id, next_attempt_at as due from deliveries
  where status = 'pending' and project_id = ${after}.project_id and destination_id > ${after}.destination_id
  order by project_id, destination_id, next_attempt_at limit 1`

/**
 * What another worker holds is left out. Joined, sooner or later each would be compared with each: so by lists, and one by
 * one. What belongs to all of them comes with one.
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
common as materialized (
  select (select now from clock) as now,
    (select json_agg(json_build_array(${LIVE_COLUMNS.map((name) => `d.${name}`).join(', ')})) from destinations d
     where d.project_id = any(array(select project_id from projects)) and d.deleted_at is null) as destinations,
    (select json_agg(destination_id) from queues where due <= (select now from clock)) as behind
)
select case when t.event_id = (select min(event_id) from taken) then (select to_json(c) from common c) end as common, e.*
from taken t left join lateral (
  select ${EVENT_COLUMNS.join(', ')}, case when octet_length(data) <= ${SHORT_BYTES} then data end as data
  from events where project_id = t.project_id and ${byKey('t.event_id')}
) e on true`

type Common = Pick<TakenValues, 'now'> & {
  readonly [Name in 'destinations' | 'behind']: TakenValues[Name] | null
}
type Row = Record<string, string | number | null> & { readonly common: Common | null }

export async function takeEventsOnPostgres(
  sql: SqlConnection,
  { claimId, from, most }: Taking,
): Promise<TakenValues> {
  // All at once, and waited for once: a statement that fails turns the commit into a rollback.
  const begun = [sql.send('begin'), sql.send(PREPARE_FAN_OUT)]
  const taking = sql.send<Row>(TAKE, [claimId, from, most])
  for (const one of await Promise.allSettled([...begun, taking, sql.send('commit')]))
    if (one.status === 'rejected') throw one.reason
  const rows = await taking
  const common = rows.find((row) => row.common !== null)?.common
  const events = rows.filter(({ id }) => id !== null).sort(byAge)
  return {
    now: common?.now ?? 0,
    events: events.map((row) => EVENT_COLUMNS.map((name) => row[name]!)),
    told: toldIn(events.map(({ data }) => (data ?? '') as string)),
    destinations: common?.destinations ?? [],
    behind: common?.behind ?? [],
  }
}

/** Bytes, outside of what the collector has to move while they wait. */
function toldIn(texts: readonly string[]): TakenValues['told'] {
  const lengths = texts.map((text) => Buffer.byteLength(text))
  const bytes = Buffer.allocUnsafeSlow(lengths.reduce((sum, length) => sum + length, 0))
  const ends: number[] = []
  for (const text of texts) ends.push((ends.at(-1) ?? 0) + bytes.write(text, ends.at(-1) ?? 0))
  return { bytes, ends }
}

const KEY = ['created_at', 'project_id', 'id']

function byAge(a: Row, b: Row): number {
  for (const name of KEY) if (a[name] !== b[name]) return a[name]! < b[name]! ? -1 : 1
  return 0
}
