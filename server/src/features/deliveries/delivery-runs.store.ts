import { sql } from 'kysely'
import {
  behind,
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
import type { DeliveryRow, DeliveryTables, StoredStatus } from './delivery.ts'
import type { DestinationState } from './delivery-status.ts'

/** Both engines merge, each in its way. */
export type ListReader = Pick<Database, 'read' | 'engine'>

/** A delivery without what is sent and said: lists do not grow with it. */
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

/** The deliveries of these statuses to these destinations: one run of `deliveries_listed` for each pair. */
export interface Runs {
  readonly projectId: string
  readonly statuses: readonly StoredStatus[]
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
  readonly status: StoredStatus
  readonly destinationId: string
}

interface RunsOfStatus extends Pick<Run, 'projectId' | 'status'> {
  readonly destinationIds: readonly string[]
}

/** The newest of several runs: each gives its own newest, so that nothing else is read, however long the runs are. */
export async function listRuns(reader: ListReader, runs: Runs, page: Page): Promise<Rows<DeliveryHead>> {
  const most = page.offset + page.limit + 1
  const wanted = { page, most }
  let places: readonly Place[] = []
  for (const some of chunks(await runsToMerge(reader, runs, wanted), RUNS_AT_ONCE)) {
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
async function runsToMerge(
  reader: Reader,
  { projectId, statuses, destinationIds }: Runs,
  wanted: Wanted,
): Promise<Run[]> {
  const found: Run[] = []
  for (const status of statuses)
    for (const some of chunks(destinationIds, IDS_AT_ONCE)) {
      const together = { projectId, status, destinationIds: some }
      const ids = some.length > wanted.most ? await newestDestinations(reader, together, wanted) : some
      found.push(...ids.map((destinationId) => ({ projectId, status, destinationId })))
    }
  return found
}

/** One seek for each destination. */
async function newestDestinations(
  reader: Reader,
  { projectId, status, destinationIds }: RunsOfStatus,
  { page, most }: Wanted,
): Promise<string[]> {
  const found = sql<{ id: string }>`
    select heads.id from (
      select d.id, (
        select id from deliveries
        where project_id = ${projectId} and status = ${status} and destination_id = d.id and ${behind(page, ORDER)}
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
  const all = reader.engine === 'sqlite' ? oneByOne(runs, wanted) : oneForEach(runs, wanted)
  const merged = sql<Place>`
    select created_at, id from (${all}) as merged
    where created_at >= ${page.from ?? 0} order by created_at desc, id desc limit ${most}`
  return [...(await merged.execute(reader.read<DeliveryTables>() as never)).rows]
}

interface RunColumns {
  readonly status: unknown
  readonly destination_id: unknown
}

const newestOf = (projectId: string, { status, destination_id }: RunColumns, { page, most }: Wanted) => sql`
  select created_at, id from deliveries
  where project_id = ${projectId} and status = ${status} and destination_id = ${destination_id} and ${behind(page, ORDER)}
  order by created_at desc, id desc limit ${most}`

/** SQLite knows no `lateral`. */
const oneByOne = (runs: readonly Run[], wanted: Wanted) =>
  sql.join(
    runs.map(({ projectId, status, destinationId: destination_id }) => {
      return sql`select * from (${newestOf(projectId, { status, destination_id }, wanted)}) as run`
    }),
    sql` union all `,
  )

/** PostgreSQL took longer to plan a hundred parts than to run them. */
function oneForEach(runs: readonly Run[], wanted: Wanted) {
  const [statuses, ids] = [runs.map(({ status }) => status), runs.map(({ destinationId }) => destinationId)]
  const columns = { status: sql.ref('r.status'), destination_id: sql.ref('r.destination_id') }
  return sql`
    select run.* from unnest(${statuses}::text[], ${ids}::text[]) as r(status, destination_id)
    cross join lateral (${newestOf(runs[0]!.projectId, columns, wanted)}) as run`
}

/** Put in order by the store, since PostgreSQL need not order text by its bytes, as we would. */
const newestAmong = (
  reader: Reader,
  projectId: string,
  places: readonly Place[],
  most: number,
): Promise<DeliveryHead[]> =>
  deliveriesOf(reader, projectId)
    .where(
      'id',
      'in',
      places.map(({ id }) => id),
    )
    .select(HEAD)
    .orderBy(unindexed('created_at'), 'desc')
    .orderBy('id', 'desc')
    .limit(most)
    .execute()

async function countRuns(
  reader: Reader,
  { projectId, statuses, destinationIds }: Runs,
  page: Page,
): Promise<number> {
  let total = 0
  for (const status of statuses)
    for (const some of chunks(destinationIds, IDS_AT_ONCE)) {
      total += await countUpTo(
        reader,
        deliveriesTo(reader, { projectId, status, destinationIds: some }, page),
      )
      if (total >= COUNT_TO) return COUNT_TO
    }
  return total
}

/** From destination to destination, in this order: that is what a cross join tells SQLite. */
const deliveriesTo = (reader: Reader, { projectId, status, destinationIds }: RunsOfStatus, page: Page) =>
  reader
    .read<DeliveryTables & DestinationTables>()
    .selectFrom('destinations')
    .crossJoin('deliveries')
    .where('destinations.project_id', '=', projectId)
    .where('destinations.id', 'in', destinationIds)
    .where('deliveries.project_id', '=', projectId)
    .where('deliveries.status', '=', status)
    .whereRef('deliveries.destination_id', '=', 'destinations.id')
    .where(withinTimes(page, 'deliveries.created_at'))

/** Where deliveries of a status go: from destination to destination by the index, one seek each, however many lie between. */
export async function destinationsWith(
  reader: Reader,
  projectId: string,
  status: StoredStatus,
): Promise<DestinationState[]> {
  const found = sql<DestinationState>`
    with recursive walk(id) as (
      select min(destination_id) from deliveries where project_id = ${projectId} and status = ${status}
      union all
      select (
        select min(destination_id) from deliveries
        where project_id = ${projectId} and status = ${status} and destination_id > walk.id
      ) from walk where walk.id is not null
    )
    select d.id, d.kind, d.active, d.deleted_at
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
        .select(['id', 'kind', 'active', 'deleted_at'])
        .where('project_id', '=', projectId)
        .where('id', 'in', some)
        .execute()),
    )
  return found
}
