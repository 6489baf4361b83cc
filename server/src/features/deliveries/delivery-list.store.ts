import { type RawBuilder, type SqlBool, sql } from 'kysely'
import {
  afterCursor,
  COUNT_TO,
  countUpTo,
  type Database,
  onPage,
  type Reader,
  unindexed,
  withinTimes,
} from '../../platform/database/index.ts'
import type { Page, Rows } from '../../platform/http/index.ts'
import type { DestinationTables } from '../webhooks/index.ts'
import type { DeliveryRow, DeliveryTables } from './delivery.ts'
import type { DestinationState, StoredState } from './delivery-status.ts'

/** Both engines merge, each in its way. */
export type ListReader = Pick<Database, 'read' | 'engine'>

/** A delivery without payload and response, so that lists stay small. */
export type DeliveryHead = Omit<DeliveryRow, 'head' | 'tail' | 'first_attempt'>

export const HEAD = [
  'project_id',
  'id',
  'event_id',
  'destination_id',
  'status',
  'attempts_made',
  'slot',
  'first_attempt_at',
  'next_attempt_at',
  'claim_id',
  'created_at',
  'settled_at',
] as const

/** The deliveries in these states to these destinations: one range of an index for each pair. `failing` stands alone. */
export interface Runs {
  readonly projectId: string
  readonly states: readonly StoredState[]
  readonly destinationIds: readonly string[]
}

/** Runs that one statement merges. SQLite allows 500 parts. */
const RUNS_AT_ONCE = 120
/** Ids in one statement: far below what either engine takes. */
const IDS_AT_ONCE = 1_000

function* chunks<T>(all: readonly T[], size: number): Generator<readonly T[]> {
  for (let i = 0; i < all.length; i += size) yield all.slice(i, i + size)
}

const ORDER = ['created_at', 'id'] as const

/** As literals where they are the condition of a partial index: SQLite does not match it with a parameter. */
export const isIn = (state: StoredState): RawBuilder<SqlBool> =>
  state === 'failing'
    ? sql<SqlBool>`deliveries.status = 'pending' and deliveries.attempts_made > 0`
    : sql<SqlBool>`deliveries.status = ${state}`

const deliveriesOf = (reader: Reader, projectId: string) =>
  reader.read<DeliveryTables>().selectFrom('deliveries').where('project_id', '=', projectId)

/** All of a project. */
export async function listAll(reader: Reader, projectId: string, page: Page): Promise<Rows<DeliveryHead>> {
  const all = deliveriesOf(reader, projectId)
  const rows = await all
    .select(HEAD)
    .where(onPage(page, ORDER))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit + 1)
    .offset(page.offset)
    .execute()
  return { rows, total: await countUpTo(reader, all.where(withinTimes(page, 'created_at'))) }
}

/** Where a delivery stands in a list: all that is read of those that are not shown, and an index holds it. */
type Place = Pick<DeliveryRow, 'created_at' | 'id'>

interface Run {
  readonly projectId: string
  readonly state: StoredState
  readonly destinationId: string
}

interface RunsOfState extends Pick<Run, 'projectId' | 'state'> {
  readonly destinationIds: readonly string[]
}

/** The newest of several runs: each gives its own newest, so that nothing else is read, however long the runs are. */
export async function listRuns(reader: ListReader, runs: Runs, page: Page): Promise<Rows<DeliveryHead>> {
  const most = page.offset + page.limit + 1
  const wanted = { page, most }
  let places: readonly Place[] = []
  for (const some of chunks(await rangesToMerge(reader, runs, wanted), RUNS_AT_ONCE)) {
    const found = await mergeRuns(reader, some, wanted)
    places =
      places.length === 0 ? found : await newestAmong(reader, runs.projectId, [...places, ...found], most)
  }
  const shown = places.slice(page.offset)
  const rows = shown.length === 0 ? [] : await newestAmong(reader, runs.projectId, shown, shown.length)
  return { rows, total: await countRuns(reader, runs, page) }
}

interface Wanted {
  readonly page: Page
  readonly most: number
}

/** Where there are more runs than rows to show, only those whose newest are the newest of all can have any of them. */
async function rangesToMerge(
  reader: Reader,
  { projectId, states, destinationIds }: Runs,
  wanted: Wanted,
): Promise<Run[]> {
  const found: Run[] = []
  for (const state of states)
    for (const some of chunks(destinationIds, IDS_AT_ONCE)) {
      const together = { projectId, state, destinationIds: some }
      const ids = some.length > wanted.most ? await newestDestinations(reader, together, wanted) : some
      found.push(...ids.map((destinationId) => ({ projectId, state, destinationId })))
    }
  return found
}

/** One seek for each destination. */
async function newestDestinations(
  reader: Reader,
  { projectId, state, destinationIds }: RunsOfState,
  { page, most }: Wanted,
): Promise<string[]> {
  const found = sql<{ id: string }>`
    select heads.id from (
      select d.id, (
        select id from deliveries
        where project_id = ${projectId} and ${isIn(state)} and destination_id = d.id and ${afterCursor(page, ORDER)}
        order by created_at desc, id desc limit 1
      ) as newest
      from destinations d where d.project_id = ${projectId} and d.id in (${sql.join(destinationIds)})
    ) heads
    join deliveries x on x.project_id = ${projectId} and x.id = heads.newest
    order by x.created_at desc, x.id desc limit ${most}`
  return (await found.execute(reader.read<DeliveryTables>() as never)).rows.map(({ id }) => id)
}

/** `from` is asked for outside the runs: what is older lies at their ends, so it takes nobody's place. */
async function mergeRuns(reader: ListReader, runs: readonly Run[], wanted: Wanted): Promise<Place[]> {
  const { page, most } = wanted
  const all = reader.engine === 'sqlite' ? oneByOne(runs, wanted) : lateralOf(runs, wanted)
  const merged = sql<Place>`
    select created_at, id from (${all}) as merged
    where created_at >= ${page.from ?? 0} order by created_at desc, id desc limit ${most}`
  return [...(await merged.execute(reader.read<DeliveryTables>() as never)).rows]
}

interface RunColumns {
  readonly inState: RawBuilder<SqlBool>
  readonly destination_id: unknown
}

const newestOf = (projectId: string, { inState, destination_id }: RunColumns, { page, most }: Wanted) => sql`
  select created_at, id from deliveries
  where project_id = ${projectId} and ${inState} and destination_id = ${destination_id} and ${afterCursor(page, ORDER)}
  order by created_at desc, id desc limit ${most}`

/** SQLite knows no `lateral`. */
const oneByOne = (runs: readonly Run[], wanted: Wanted) =>
  sql.join(
    runs.map(({ projectId, state, destinationId: destination_id }) => {
      return sql`select * from (${newestOf(projectId, { inState: isIn(state), destination_id }, wanted)}) as run`
    }),
    sql` union all `,
  )

/** PostgreSQL took longer to plan a hundred parts than to run them. */
function lateralOf(runs: readonly Run[], wanted: Wanted) {
  const [states, ids] = [runs.map(({ state }) => state), runs.map(({ destinationId }) => destinationId)]
  const inState = states[0] === 'failing' ? isIn('failing') : sql<SqlBool>`deliveries.status = r.state`
  const columns = { inState, destination_id: sql.ref('r.destination_id') }
  return sql`
    select run.* from unnest(${states}::text[], ${ids}::text[]) as r(state, destination_id)
    cross join lateral (${newestOf(runs[0]!.projectId, columns, wanted)}) as run`
}

/** Put in order by the store, since PostgreSQL need not order text by its bytes, as we would. */
async function newestAmong(
  reader: ListReader,
  projectId: string,
  places: readonly Place[],
  most: number,
): Promise<DeliveryHead[]> {
  const ids = places.map(({ id }) => id)
  const found = sql<DeliveryHead>`
    select ${sql.join(HEAD.map((name) => sql.ref(name)))} from ${reader.engine === 'sqlite' ? inList(projectId, ids) : oneByKey(projectId, ids)}
    order by ${unindexed('created_at')} desc, id desc limit ${most}`
  return [...(await found.execute(reader.read<DeliveryTables>() as never)).rows]
}

const inList = (projectId: string, ids: readonly string[]) =>
  sql`deliveries where project_id = ${projectId} and id in (${sql.join(ids)})`

/** Of a list of ids PostgreSQL may look for all in an index of the project, until the table has been analyzed. */
const oneByKey = (projectId: string, ids: readonly string[]) => sql`
  unnest(${ids}::text[]) as wanted(wanted_id)
  cross join lateral (select * from deliveries where project_id = ${projectId} and id = wanted_id limit 1) as found`

async function countRuns(
  reader: Reader,
  { projectId, states, destinationIds }: Runs,
  page: Page,
): Promise<number> {
  let total = 0
  for (const state of states)
    for (const some of chunks(destinationIds, IDS_AT_ONCE)) {
      total += await countUpTo(reader, deliveriesTo(reader, { projectId, state, destinationIds: some }, page))
      if (total >= COUNT_TO) return COUNT_TO
    }
  return total
}

/** From destination to destination, in this order: that is what a cross join tells SQLite. */
const deliveriesTo = (reader: Reader, { projectId, state, destinationIds }: RunsOfState, page: Page) =>
  reader
    .read<DeliveryTables & DestinationTables>()
    .selectFrom('destinations')
    .crossJoin('deliveries')
    .where('destinations.project_id', '=', projectId)
    .where('destinations.id', 'in', destinationIds)
    .where('deliveries.project_id', '=', projectId)
    .where(isIn(state))
    .whereRef('deliveries.destination_id', '=', 'destinations.id')
    .where(withinTimes(page, 'deliveries.created_at'))

/** Where deliveries in a state go: from destination to destination by the index, one seek each, however many lie between. */
export async function destinationsWith(
  reader: Reader,
  projectId: string,
  state: StoredState,
): Promise<DestinationState[]> {
  const found = sql<DestinationState>`
    with recursive walk(id) as (
      select min(destination_id) from deliveries where project_id = ${projectId} and ${isIn(state)}
      union all
      select (
        select min(destination_id) from deliveries
        where project_id = ${projectId} and ${isIn(state)} and destination_id > walk.id
      ) from walk where walk.id is not null
    )
    select d.id, d.kind, d.active, d.deleted_at, d.target_url
    from walk join destinations d on d.project_id = ${projectId} and d.id = walk.id`
  return (await found.execute(reader.read<DestinationTables>() as never)).rows
}

export async function findDestinationStates(
  reader: Reader,
  projectId: string,
  ids: readonly string[],
): Promise<DestinationState[]> {
  const found: DestinationState[] = []
  for (const some of chunks(ids, IDS_AT_ONCE))
    found.push(
      ...(await reader
        .read<DestinationTables>()
        .selectFrom('destinations')
        .select(['id', 'kind', 'active', 'deleted_at', 'target_url'])
        .where('project_id', '=', projectId)
        .where('id', 'in', some)
        .execute()),
    )
  return found
}
