import { byKey, type SqlConnection } from '../../platform/database/index.ts'
import { PREPARE_FAN_OUT } from './delivery.store.ts'
import { EVENT_COLUMNS, LEASE_MS } from './exchange.ts'
import { LIVE_COLUMNS, SHORT_BYTES, type TakenValues, type Taking } from './taken-events.ts'

const nextQueue = (after: string) => `
  select destination_id, next_attempt_at as due from deliveries
  where status = 'pending' and project_id = ${after}.project_id and destination_id > ${after}.destination_id
  order by project_id, destination_id, next_attempt_at limit 1`

/** From this version on a list is looked up in one walk through an index, in its order; before, all of the project would be read. */
const WALKS_LISTS = 170_000
const EVENTS = `select ${EVENT_COLUMNS.join(', ')}, case when octet_length(data) <= ${SHORT_BYTES} then data else '' end as told
    from events where project_id = p.project_id`

/**
 * What another worker holds is left out. Joined, sooner or later each would be compared with each: so by lists. All of it is one row,
 * a column a list: as rows it took the driver three times as long to read, and lists of columns take PostgreSQL half as long to make
 * as lists of rows. All lists have the order in which the events were found.
 */
const TAKE = `
with recursive clock as materialized (
  select jeton_now() as now, current_setting('server_version_num')::int >= ${WALKS_LISTS} as walks_lists
),
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
projects as materialized (select project_id, array_agg(event_id) as events from taken group by project_id),
-- From queue to queue, never through one: where all goes well there is none.
queues(project_id, destination_id, due) as (
  select project_id, '' collate "C", null::bigint from projects
  union all
  select q.project_id, n.destination_id, n.due from queues q cross join lateral (${nextQueue('q')}) n
),
-- Their ids follow one another, and so they lie together in the primary key, which alone has this order.
found as (
  select e.* from projects p cross join lateral (
    ${EVENTS} and id = any(p.events) order by id
  ) e where (select walks_lists from clock)
  union all
  select e.* from taken p cross join lateral (
    ${EVENTS} and ${byKey('p.event_id')}
  ) e where not (select walks_lists from clock)
)
select (select now from clock),
  (select json_agg(json_build_array(${LIVE_COLUMNS.map((name) => `d.${name}`).join(', ')})) from destinations d
   where d.project_id = any(array(select project_id from projects)) and d.deleted_at is null),
  (select json_agg(destination_id) from queues where due <= (select now from clock)),
  json_agg(octet_length(told)), string_agg(told, ''), ${EVENT_COLUMNS.map((name) => `json_agg(${name})`).join(', ')}
from found`

/** Any index that begins with the project would do, were their order to be made afterwards: they would be looked for in all of it. */
const PREPARE_TAKE = `${PREPARE_FAN_OUT}, set_config('enable_sort', 'off', true)`

export async function takeEventsOnPostgres(
  sql: SqlConnection,
  { claimId, from, most }: Taking,
): Promise<TakenValues> {
  // All at once, and waited for once: a statement that fails turns the commit into a rollback.
  const begun = [sql.send('begin'), sql.send(PREPARE_TAKE)]
  const taking = sql.sendRaw(TAKE, [claimId, from, most])
  for (const one of await Promise.allSettled([...begun, taking, sql.send('commit')]))
    if (one.status === 'rejected') throw one.reason
  const [now, destinations, behind, lengths, told, ...columns] = (await taking)[0]!
  return {
    now: Number(now),
    destinations: destinations ?? NONE,
    behind: listIn(behind),
    parts: lengths ? [{ columns: columns.map(String), lengths: String(lengths), told: ownBytes(told!) }] : [],
  }
}

const NONE = Buffer.from('[]')

/** It lies in the whole answer, which an event that waits would keep in memory: not where most of that is something else. */
const ownBytes = (bytes: Buffer): Buffer =>
  bytes.length * 2 < bytes.buffer.byteLength ? Buffer.from(bytes) : bytes

/** Of nothing there is no list. */
const listIn = (json: Buffer | null | undefined): string[] => (json ? JSON.parse(json.toString()) : [])
