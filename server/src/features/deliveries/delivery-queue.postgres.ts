import { byKey, FORCE_KEY_LOOKUPS, type SqlConnection } from '../../platform/database/index.ts'
import type { EventRow } from '../events/index.ts'
import {
  CLAIMED_COLUMNS,
  type Claimed,
  type ClaimedRow,
  type ClaimRequest,
  type DestinationId,
  EVENT_COLUMNS,
  LEASE_MS,
  MAX_STORED_ERROR,
  QUEUES_PER_CLAIM,
  type SettleAndClaim,
  type Settlement,
  TARGET_COLUMNS,
  type Target,
} from './delivery-queue.ts'

/**
 * The changes of one statement, as one JSON object by delivery id. Rows are found by lists of their keys: a join with
 * the changes would be planned while the table was empty, and later read all of it.
 */
const CHANGES = 'with changes as materialized (select $3::text::jsonb as by_id)'
const change = (field: string) => `((select by_id from changes) -> d.id ->> '${field}')`
const WHERE_CLAIMED = `d.project_id = any($1::text[]) and d.id = any($2::text[])
  and d.claim_id = ${change('claim_id')}`

const SETTLE = `${CHANGES},
settled as (
  update deliveries d set status = ${change('status')}, slot = ${change('slot')}::bigint,
    first_attempt_at = ${change('first_attempt_at')}::bigint, next_attempt_at = ${change('next_attempt_at')}::bigint,
    settled_at = case when ${change('status')} <> 'pending' then jeton_now() end,
    attempts_made = ${change('number')}::bigint, claim_id = null,
    last_status = case when ${change('error')} is not null then ${change('response_status')}::bigint end,
    last_error = left(${change('error')}, ${MAX_STORED_ERROR})
  where ${WHERE_CLAIMED}
  returning d.project_id, d.id
)
insert into attempts (project_id, delivery_id, number, at, duration_ms, status, response_body, error)
select s.project_id, s.id, a.number, a.at, a.duration_ms, a.response_status, a.response_body, a.error
from settled s cross join lateral jsonb_to_record((select by_id from changes) -> s.id) as a(number bigint, at bigint,
  duration_ms bigint, response_status bigint, response_body text, error text)
-- An attempt that is already recorded must not fail the whole batch.
on conflict do nothing`

const RELEASE = `${CHANGES}
update deliveries d set claim_id = null, next_attempt_at = ${change('due')}::bigint where ${WHERE_CLAIMED}`

const FAILING = `update destinations set failing_since = jeton_now()
  where project_id = any($1::text[]) and id = any($2::text[]) and failing_since is null`
const RECOVERED = `update destinations set failing_since = null
  where project_id = any($1::text[]) and id = any($2::text[]) and failing_since is not null`

/** Finds the next destination with pending deliveries: one seek in the index, however long its queue is. */
const nextQueue = (project: string, id: string) => `
  select project_id, destination_id from deliveries
  where status = 'pending' and (project_id, destination_id) > (${project}, ${id})
  order by project_id, destination_id limit 1`

/** Visits one queue after the other and claims from each what its destination can take, except rows that others lock. */
const CLAIM = `
with recursive queues(project_id, destination_id, n) as (
  (select q.project_id, q.destination_id, 1 from (${nextQueue('$1::text', '$2::text')}) q)
  union all
  select q.project_id, q.destination_id, p.n + 1
  from queues p cross join lateral (${nextQueue('p.project_id', 'p.destination_id')}) q
  where p.n < ${QUEUES_PER_CLAIM}
),
clock as (select jeton_now() as now),
capacities as materialized (select $3::text::jsonb as by_id),
found as (
  select q.project_id, q.destination_id, x.id, x.due, q.n from capacities cross join queues q
  -- Laterals keep the order of the queues; a join would start at the destinations, and the limit would cut anywhere.
  cross join lateral (
    select id, active, deleted_at from destinations
    where project_id = q.project_id and ${byKey('q.destination_id')}
  ) d
  cross join lateral (
    select id, next_attempt_at as due from deliveries
    where status = 'pending' and project_id = q.project_id and destination_id = q.destination_id
      and next_attempt_at <= (select now from clock)
      and d.active = 1 and d.deleted_at is null
    order by next_attempt_at
    limit coalesce((capacities.by_id ->> q.destination_id)::bigint, $4::bigint) for update skip locked
  ) x
  limit $5::bigint
),
positions as materialized (select jsonb_object_agg(id, jsonb_build_object('n', n, 'due', due)) as by_id from found),
claimed as (
  update deliveries set claim_id = $6, next_attempt_at = (select now from clock) + ${LEASE_MS}
  where project_id = any(array(select project_id from found)) and id = any(array(select id from found))
  returning ${CLAIMED_COLUMNS.join(', ')},
    ((select by_id from positions) -> id ->> 'n')::bigint as n,
    ((select by_id from positions) -> id ->> 'due')::bigint as due
),
-- Each event and each destination is returned once, with one of its deliveries.
numbered as (
  select *, row_number() over (partition by project_id, event_id) as of_event,
    row_number() over (partition by project_id, destination_id) as of_destination
  from claimed
),
last_visited as (
  (select project_id, destination_id, n from found
   where (select count(*) from found) >= $5::bigint order by n desc limit 1)
  union all
  (select project_id, destination_id, n from queues
   where (select count(*) from found) < $5::bigint order by n desc limit 1)
)
select c.*, (select now from clock) as now, l.project_id as last_project, l.destination_id as last_id,
  (select count(*) from found) < $5::bigint and l.n < ${QUEUES_PER_CLAIM} as at_end,
  e.event, e.data, to_json(t) as target
from (select 1) one left join last_visited l on true left join numbered c on true
  left join lateral (
    select (select to_json(h) from (select ${EVENT_COLUMNS.join(', ')}) h) as event, data from events
    where project_id = c.project_id and c.of_event = 1 and ${byKey('c.event_id')}
  ) e on true
  left join lateral (
    select ${TARGET_COLUMNS.join(', ')} from destinations
    where project_id = c.project_id and c.of_destination = 1 and ${byKey('c.destination_id')}
  ) t on true
order by c.n, c.due`

/** Returns the time, like a claim that finds nothing. */
const NO_CLAIM = 'select jeton_now() as now, null as id, null as last_project, null as event, null as target'

interface ClaimResultRow extends Omit<ClaimedRow, 'id'> {
  readonly id: string | null
  readonly now: number
  readonly last_project: string | null
  readonly last_id: string | null
  readonly at_end: boolean | null
  readonly event: Omit<EventRow, 'data'> | null
  readonly data: string
  readonly target: Target | null
}

export async function settleAndClaimOnPostgres(sql: SqlConnection, input: SettleAndClaim): Promise<Claimed> {
  const { failing, recovered } = input
  const claiming = () =>
    input.claim
      ? sql.query<ClaimResultRow>(CLAIM, claimParameters(input.claim))
      : sql.query<ClaimResultRow>(NO_CLAIM)
  // All statements are sent before the first result is awaited. One that fails turns the commit into a rollback.
  const statements = [
    sql.query('begin'),
    sql.query(FORCE_KEY_LOOKUPS),
    ...byDelivery(input.settlements.map(flatten)).map((parameters) => sql.query(SETTLE, parameters)),
    ...byDelivery(input.released).map((parameters) => sql.query(RELEASE, parameters)),
    ...(failing.length > 0 ? [sql.query(FAILING, keysOf(failing))] : []),
    ...(recovered.length > 0 ? [sql.query(RECOVERED, keysOf(recovered))] : []),
  ]
  const claimed = claiming()
  const results = await Promise.allSettled([...statements, claimed, sql.query('commit')])
  for (const result of results) if (result.status === 'rejected') throw result.reason
  return toClaimed(await claimed)
}

const claimParameters = ({ cursor, capacities, defaultCapacity, limit, id }: ClaimRequest): unknown[] => [
  ...[cursor.project_id, cursor.id, JSON.stringify(capacities), defaultCapacity, limit, id],
]

const flatten = ({ attempt, ...settlement }: Settlement) => ({
  ...attempt,
  ...settlement,
  response_status: attempt.status,
})

const keysOf = (rows: readonly DestinationId[]): [projects: string[], ids: string[]] => [
  [...new Set(rows.map(({ project_id }) => project_id))],
  rows.map(({ id }) => id),
]

/**
 * The parameters of one statement per list. A delivery that was claimed again while its first send was in flight may
 * appear twice, and an object holds one of them: the second goes into a list of its own.
 */
function byDelivery(rows: readonly DestinationId[]): unknown[][] {
  const lists: Map<string, DestinationId>[] = []
  for (const row of rows) {
    const list = lists.find((some) => !some.has(row.id))
    if (list) list.set(row.id, row)
    else lists.push(new Map([[row.id, row]]))
  }
  return lists.map((list) => [...keysOf([...list.values()]), JSON.stringify(Object.fromEntries(list))])
}

function toClaimed(rows: readonly ClaimResultRow[]): Claimed {
  const { now, last_project, last_id, at_end } = rows[0]!
  return {
    now,
    deliveries: rows.filter(({ id }) => id !== null) as never as ClaimedRow[],
    events: rows.flatMap(({ event, data }): EventRow[] => (event === null ? [] : [{ ...event, data }])),
    targets: rows.flatMap(({ target }) => target ?? []),
    next: last_project === null || at_end === true ? null : { project_id: last_project, id: last_id! },
  }
}
