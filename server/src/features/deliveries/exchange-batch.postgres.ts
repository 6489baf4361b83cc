import { BY_KEY, byKey, type SqlConnection, UniqueConflict } from '../../platform/database/index.ts'
import type { EventHead } from '../events/index.ts'
import type { DeliveryRow } from './delivery.ts'
import {
  type Claimed,
  type ClaimedDestination,
  type ClaimedEvent,
  DESTINATION_COLUMNS,
  EVENT_COLUMNS,
  type ExchangeInput,
  type ExchangeOutput,
  LEASE_MS,
  type Settlement,
  WALK_MOST,
  type WrittenFirst,
} from './exchange.ts'

/** An event, and which claim holds it. */
const heldName = ({ event_id, claim_id }: WrittenFirst) => `${event_id} ${claim_id}`

/** Ids, numbers and JSON, in which control characters are escaped: so two of those can part them. */
const ROW = {
  ...{ project_id: 'text', id: 'text', event_id: 'text', destination_id: 'text', head: 'text', tail: 'text' },
  ...{ first_attempt_at: 'bigint', created_at: 'bigint', first_attempt: 'text' },
} as const satisfies Partial<Record<keyof DeliveryRow, string>>
/** Where all have arrived, these are the same for each. */
const OUTCOME = {
  ...{ status: 'text', claim_id: 'text', attempts_made: 'bigint', slot: 'bigint', next_attempt_at: 'bigint' },
} as const satisfies Partial<Record<keyof DeliveryRow, string>>
const [PARTS_AT, NOTHING] = ['\x1f', '\x1d']

type Column = keyof typeof ROW | keyof typeof OUTCOME
const namesOf = <Name extends Column>(columns: Record<Name, string>) => Object.keys(columns) as Name[]
const parted = (values: readonly (string | number)[]): string => values.join(PARTS_AT)

/** A column is one text: as JSON, quotes and all, a delivery took 12 µs to read, and this takes 3. */
const columnsOf = (rows: readonly DeliveryRow[], names: readonly Column[]): string[] =>
  names.map((name) => parted(rows.map((row) => row[name] ?? NOTHING)))

const areAlike = ([first, ...others]: readonly DeliveryRow[]): boolean =>
  first !== undefined && others.every((row) => namesOf(OUTCOME).every((name) => row[name] === first[name]))

/** The parameters before them name the events. */
const FIRST_COLUMN = 4
const readAt = (at: number, type: string) => `string_to_array($${at}::text, e'\\x1f', e'\\x1d')::${type}[]`
const WHOLE_ROW = { ...ROW, ...OUTCOME }
const COLUMNS = namesOf(WHOLE_ROW).join(', ')
const readFrom = (at: number, columns: Record<string, string>) =>
  Object.values(columns).map((type, i) => readAt(at + i, type))
const OUTCOME_COLUMN = FIRST_COLUMN + Object.keys(ROW).length
const HELD_COLUMN = OUTCOME_COLUMN + Object.keys(OUTCOME).length
const READ = readFrom(FIRST_COLUMN, WHOLE_ROW).join(', ')
const MADE = `select r.* from unnest(${READ}) as r(${COLUMNS})`
const MADE_ALIKE = `select r.*, ${Object.entries(OUTCOME)
  .map(([name, type], i) => `$${OUTCOME_COLUMN + i}::${type} as ${name}`)
  .join(', ')} from unnest(${readFrom(FIRST_COLUMN, ROW).join(', ')}) as r(${namesOf(ROW).join(', ')})`

/** Read once, and not for every row. */
const listAt = (at: number, type: string) => `(select ${readAt(at, type)})::${type}[]`
/** An event, and which claim holds it, if any does. */
const NAME = `event_id || ' ' || coalesce(claim_id, '')`
/**
 * What was sent before it was written: only where the event still waits, held by the same claim. They are looked up by lists
 * and not by a join: with a table that is full now and empty then, the planner would sooner or later compare each with each.
 */
const RELEASED = `delete from waiting_events
  where created_at = any(${listAt(1, 'bigint')}) and event_id = any(${listAt(2, 'text')})`
const INSERT = `insert into deliveries (${COLUMNS}, settled_at)
  select ${COLUMNS}, case when status <> 'pending' then (select jeton_now()) end from made`

/**
 * Nobody else can hold it, nor have written it: where that is not so, this fails, and all is done anew with care. The claims are
 * compared afterwards, all at once: each event would be compared with the names of all.
 */
const writeFirsts = (made: string) => `
with held as (${RELEASED} returning ${NAME} as name),
made as (
  ${made}
  where 1 / coalesce((select string_agg(name, e'\\x1f' order by name collate "C") from held) = $3::text, false)::int = 1
)
${INSERT}`
const WRITE_FIRSTS = writeFirsts(MADE)
const WRITE_FIRSTS_ALIKE = writeFirsts(MADE_ALIKE)
/** Division by zero. */
const NOT_ALL_HELD = '22012'

/** Should someone have, it must not stand in the way of all that is to be settled. To look first costs a quarter of the whole. */
const WRITE_FIRSTS_WITH_CARE = `
with held as (${RELEASED} and ${NAME} = any(${listAt(3, 'text')}) returning ${NAME} as name),
-- Looked up in one value: a join of the two would compare each with each.
ours as materialized (select jsonb_object_agg(name, true) as events from held),
made as (
  select r.* from unnest(${READ}, ${readAt(HELD_COLUMN, 'text')}) as r(${COLUMNS}, held), ours
  where ours.events ? r.held
)
${INSERT} on conflict do nothing`

/** By lists, like the events, with what belongs to each in one value: of a table that was empty in the morning a join would go through all. */
const HELD = `d.project_id = any($1::text[]) and d.id = any($2::text[])
  and d.claim_id = (select of from ended) -> d.id ->> 'claim_id'`
const ended = (name: string) => `(select of from ended) -> d.id ->> '${name}'`

const SETTLE = `
with ended as materialized (select $3::text::jsonb as of),
settled as (
  update deliveries d set status = ${ended('status')}, slot = (${ended('slot')})::bigint,
    first_attempt_at = (${ended('first_attempt_at')})::bigint, next_attempt_at = (${ended('next_attempt_at')})::bigint,
    settled_at = case when ${ended('status')} <> 'pending' then jeton_now() end,
    attempts_made = (${ended('number')})::bigint, claim_id = null
  where ${HELD}
  returning d.project_id, d.id
)
insert into attempts (project_id, delivery_id, number, at, duration_ms, status, response_body, error)
select s.project_id, s.id, a.number, a.at, a.duration_ms, a.answered, a.response_body, a.error
from settled s cross join lateral jsonb_to_record((select of from ended) -> s.id) as a(number bigint, at bigint,
  duration_ms bigint, answered bigint, response_body text, error text)
-- One that cannot be must not stand in the way of all others.
on conflict do nothing`

const GIVE_BACK = `
with ended as materialized (select $3::text::jsonb as of)
update deliveries d set claim_id = null, next_attempt_at = (${ended('due')})::bigint where ${HELD}`

const packed = ({ attempt, ...place }: Settlement) => ({ ...attempt, ...place, answered: attempt.status })

interface Named {
  readonly project_id: string
  readonly id: string
}

const projectsOf = (rows: readonly Named[]) => [...new Set(rows.map(({ project_id }) => project_id))]

/**
 * Lists of their names, and each by its id. A delivery that was claimed anew while its first send was under way may come
 * twice, of which the store believes one: the second goes into a list of its own.
 */
function byId(rows: readonly Named[]): unknown[][] {
  const lists: Map<string, Named>[] = []
  for (const row of rows) {
    const list = lists.find((some) => !some.has(row.id))
    if (list) list.set(row.id, row)
    else lists.push(new Map([[row.id, row]]))
  }
  return lists.map((list) => [
    projectsOf([...list.values()]),
    [...list.keys()],
    JSON.stringify(Object.fromEntries(list)),
  ])
}

/** How the destinations fare. */
const FAILING = `update destinations set failing_since = jeton_now()
  where project_id = any($1::text[]) and id = any($2::text[]) and failing_since is null`
const RECOVERED = `update destinations set failing_since = null
  where project_id = any($1::text[]) and id = any($2::text[]) and failing_since is not null`

/**
 * Walks from queue to queue by the index, never through one, and takes from each what there is room for. Rows that
 * another worker is taking at this moment are left out.
 */
const NEXT_QUEUE = (project: string, id: string) => `
  select project_id, destination_id from deliveries
  where status = 'pending' and (project_id, destination_id) > (${project}, ${id})
  order by project_id, destination_id limit 1`
const CLAIM = `
with recursive walk(project_id, destination_id, n) as (
  (select q.project_id, q.destination_id, 1 from (${NEXT_QUEUE('$1::text', '$2::text')}) q)
  union all
  select q.project_id, q.destination_id, w.n + 1
  from walk w cross join lateral (${NEXT_QUEUE('w.project_id', 'w.destination_id')}) q
  where w.n < ${WALK_MOST}
),
clock as (select jeton_now() as now),
rooms as materialized (select $3::text::jsonb as of),
found as (
  select w.project_id, w.destination_id, x.id, x.due, w.n from rooms cross join walk w
  -- One at a time, in the order of the walk: a join would begin with the destinations, and the limit cut anywhere.
  cross join lateral (
    select id, active, deleted_at from destinations
    where project_id = w.project_id and ${byKey('w.destination_id')}
  ) d
  cross join lateral (
    select id, next_attempt_at as due from deliveries
    where status = 'pending' and project_id = w.project_id and destination_id = w.destination_id
      and next_attempt_at <= (select now from clock)
      and d.active = 1 and d.deleted_at is null
    order by next_attempt_at limit coalesce((rooms.of ->> w.destination_id)::bigint, $4::bigint) for update skip locked
  ) x
  limit $5::bigint
),
places as materialized (select jsonb_object_agg(id, jsonb_build_object('n', n, 'due', due)) as of from found),
taken as (
  update deliveries set claim_id = $6, next_attempt_at = (select now from clock) + ${LEASE_MS}
  where project_id = any(array(select project_id from found)) and id = any(array(select id from found))
  returning project_id, id, event_id, destination_id, head, tail, attempts_made, slot, first_attempt_at,
    ((select of from places) -> id ->> 'n')::bigint as n, ((select of from places) -> id ->> 'due')::bigint as due
),
-- Each event and each destination comes once, with one of its deliveries.
numbered as (
  select *, row_number() over (partition by project_id, event_id) as of_event,
    row_number() over (partition by project_id, destination_id) as of_destination
  from taken
),
reached as (
  (select project_id, destination_id, n from found
   where (select count(*) from found) >= $5::bigint order by n desc limit 1)
  union all
  (select project_id, destination_id, n from walk
   where (select count(*) from found) < $5::bigint order by n desc limit 1)
)
select t.*, (select now from clock) as now, r.project_id as reached_project, r.destination_id as reached_id,
  (select count(*) from found) < $5::bigint and r.n < ${WALK_MOST} as at_end, e.event, e.data, to_json(s) as destination
from (select 1) one left join reached r on true left join numbered t on true
  left join lateral (
    select (select to_json(h) from (select ${EVENT_COLUMNS.join(', ')}) h) as event, data from events
    where project_id = t.project_id and t.of_event = 1 and ${byKey('t.event_id')}
  ) e on true
  left join lateral (
    select ${DESTINATION_COLUMNS.join(', ')} from destinations
    where project_id = t.project_id and t.of_destination = 1 and ${byKey('t.destination_id')}
  ) s on true
order by t.n, t.due`

/** The time, as from a claim that found nothing. */
const NO_CLAIM =
  'select jeton_now() as now, null as id, null as reached_project, null as event, null as destination'

interface Taken extends Omit<Claimed, 'id'> {
  readonly id: string | null
  readonly now: number
  readonly reached_project: string | null
  readonly reached_id: string | null
  readonly at_end: boolean | null
  /** Of its event, where this is the first delivery of it. */
  readonly event: EventHead | null
  readonly data: string
  readonly destination: ClaimedDestination | null
}

export async function exchangeOnPostgres(sql: SqlConnection, input: ExchangeInput): Promise<ExchangeOutput> {
  try {
    return await exchangeOnce(sql, input, false)
  } catch (error) {
    const isForeign = error instanceof UniqueConflict || (error as { code?: unknown }).code === NOT_ALL_HELD
    if (!isForeign) throw error
    return exchangeOnce(sql, input, true)
  }
}

async function exchangeOnce(
  sql: SqlConnection,
  input: ExchangeInput,
  withCare: boolean,
): Promise<ExchangeOutput> {
  const { firsts, settlements, givenBack, failing, recovered, claim } = input
  // All at once, and waited for once: a statement that fails turns the commit into a rollback.
  const begun = [sql.send('begin'), sql.send(BY_KEY)]
  const writing = firsts.length > 0 && sql.send(...toWrite(firsts, withCare))
  const changes = [
    ...byId(settlements.map(packed)).map((parameters) => sql.send(SETTLE, parameters)),
    ...byId(givenBack).map((parameters) => sql.send(GIVE_BACK, parameters)),
    failing.length > 0 && sql.send(FAILING, [projectsOf(failing), failing.map(({ id }) => id)]),
    recovered.length > 0 && sql.send(RECOVERED, [projectsOf(recovered), recovered.map(({ id }) => id)]),
  ]
  const claiming =
    claim.most === 0
      ? sql.send<Taken>(NO_CLAIM)
      : sql.send<Taken>(CLAIM, [
          claim.after.project_id,
          claim.after.id,
          JSON.stringify(Object.fromEntries(claim.rooms.map(({ id, room }) => [id, room]))),
          claim.share,
          claim.most,
          claim.id,
        ])
  for (const one of await Promise.allSettled([...begun, writing, ...changes, claiming, sql.send('commit')]))
    if (one.status === 'rejected') throw one.reason
  const rows = await claiming
  const deliveries = rows.filter((row) => row.id !== null) as never as Claimed[]
  const { now, reached_project, reached_id, at_end } = rows[0]!
  const ended = reached_project === null || at_end === true
  return {
    now,
    deliveries,
    events: rows.flatMap(eventOf),
    destinations: rows.flatMap(({ destination }) => destination ?? []),
    next: ended ? null : { project_id: reached_project, id: reached_id! },
  }
}

function toWrite(firsts: readonly WrittenFirst[], withCare: boolean): [text: string, parameters: unknown[]] {
  const rows = firsts.flatMap(({ deliveries }) => deliveries)
  const parameters = [
    parted(firsts.map(({ created_at }) => created_at)),
    parted(firsts.map(({ event_id }) => event_id)),
    parted(firsts.map(heldName).sort()),
    ...columnsOf(rows, namesOf(ROW)),
  ]
  const names = namesOf(OUTCOME)
  if (!withCare && areAlike(rows))
    return [WRITE_FIRSTS_ALIKE, [...parameters, ...names.map((name) => rows[0]![name])]]
  parameters.push(...columnsOf(rows, names))
  if (!withCare) return [WRITE_FIRSTS, parameters]
  const held = firsts.flatMap((first) => first.deliveries.map(() => heldName(first)))
  return [WRITE_FIRSTS_WITH_CARE, [...parameters, parted(held)]]
}

const eventOf = ({ event, data }: Taken): ClaimedEvent[] => (event === null ? [] : [{ ...event, data }])
