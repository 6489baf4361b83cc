import { type SelectQueryBuilder, sql } from 'kysely'
import { COUNT_TO, countUpTo, type Reader } from '../../platform/database/index.ts'
import type { Page, Rows } from '../../platform/http/index.ts'
import type { DestinationTables } from '../webhooks/index.ts'
import type { DeliveryRow, DeliveryTables, StoredStatus } from './delivery.ts'
import type { DestinationState } from './delivery-status.ts'

/** A delivery without what is sent: lists do not grow with it. */
export type DeliveryHead = Omit<DeliveryRow, 'head' | 'tail'>

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
const RUNS_AT_ONCE = 100
/** Ids in one statement: far below what either engine takes. */
const IDS_AT_ONCE = 1_000

function* chunks<T>(all: readonly T[], size: number): Generator<readonly T[]> {
  for (let i = 0; i < all.length; i += size) yield all.slice(i, i + size)
}

const deliveriesOf = (reader: Reader, projectId: string) =>
  reader.read<DeliveryTables>().selectFrom('deliveries').where('project_id', '=', projectId)

type Deliveries = ReturnType<typeof deliveriesOf>

const since = (query: Deliveries, { from }: Page): Deliveries =>
  from === undefined ? query : query.where('created_at', '>=', from)

const until = (query: Deliveries, { to }: Page): Deliveries =>
  to === undefined ? query : query.where('created_at', '<', to)

/**
 * Behind the cursor, as one comparison of both columns, which an index answers with a seek: the last page costs what the
 * first does. Never beside `to`: the earlier of the two says it all, and of both an engine might take the other.
 */
const behind = (query: Deliveries, page: Page): Deliveries => {
  const { before, to } = page
  if (!before || before.at >= (to ?? Number.POSITIVE_INFINITY)) return until(query, page)
  return query.where((eb) => eb(eb.refTuple('created_at', 'id'), '<', eb.tuple(before.at, before.id)))
}

const newest = (query: Deliveries, most: number) =>
  query.select(HEAD).orderBy('created_at', 'desc').orderBy('id', 'desc').limit(most)

/** All of a project. */
export async function listAll(reader: Reader, projectId: string, page: Page): Promise<Rows<DeliveryHead>> {
  const all = since(deliveriesOf(reader, projectId), page)
  const rows = await newest(behind(all, page), page.limit + 1)
    .offset(page.offset)
    .execute()
  return { rows, total: await countUpTo(reader, until(all, page)) }
}

/** The newest of several runs: each gives its own newest, so that nothing else is read, however long the runs are. */
export async function listRuns(reader: Reader, runs: Runs, page: Page): Promise<Rows<DeliveryHead>> {
  const most = page.offset + page.limit + 1
  let rows: readonly DeliveryHead[] = []
  for (const destinationIds of chunks(runs.destinationIds, RUNS_AT_ONCE)) {
    const found = await mergeRuns(reader, { ...runs, destinationIds }, { page, most })
    rows = rows.length === 0 ? found : await newestAmong(reader, [...rows, ...found], most)
  }
  return { rows: rows.slice(page.offset), total: await countRuns(reader, runs, page) }
}

/**
 * `from` is asked for outside the runs: what is older lies at their ends, so it takes nobody's place. Beside another
 * limit it would lead SQLite to walk through all of the project by time.
 */
async function mergeRuns(
  reader: Reader,
  runs: Runs,
  { page, most }: { page: Page; most: number },
): Promise<DeliveryHead[]> {
  const merged = unionOf(reader, runs, (run) => newest(behind(run, page), most))
  return reader
    .read<DeliveryTables>()
    .selectFrom(merged.as('merged'))
    .selectAll()
    .where('created_at', '>=', page.from ?? 0)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(most)
    .execute()
}

function unionOf<Row>(
  reader: Reader,
  { projectId, statuses, destinationIds }: Runs,
  partOf: (run: Deliveries) => SelectQueryBuilder<DeliveryTables, 'deliveries', Row>,
) {
  const [first, ...others] = statuses.flatMap((status) =>
    destinationIds.map((id) => {
      const run = deliveriesOf(reader, projectId)
        .where('status', '=', status)
        .where('destination_id', '=', id)
      return reader.read<DeliveryTables>().selectFrom(partOf(run).as('run')).selectAll()
    }),
  )
  return others.reduce((all, one) => all.unionAll(one), first!)
}

/**
 * Put in order by the store, since PostgreSQL need not order text by its bytes, as we would. The sign keeps the engines
 * from walking through all of the project in that order.
 */
const newestAmong = (reader: Reader, rows: readonly DeliveryHead[], most: number): Promise<DeliveryHead[]> =>
  deliveriesOf(reader, rows[0]!.project_id)
    .where(
      'id',
      'in',
      rows.map(({ id }) => id),
    )
    .select(HEAD)
    .orderBy(sql`+created_at`, 'desc')
    .orderBy('id', 'desc')
    .limit(most)
    .execute()

/** Between two times the same trouble as above: each run counts from the one, and what is behind the other is left out. */
async function countRuns(reader: Reader, runs: Runs, page: Page): Promise<number> {
  const twoLimits = page.from !== undefined && page.to !== undefined
  let total = 0
  for (const destinationIds of chunks(runs.destinationIds, twoLimits ? RUNS_AT_ONCE : IDS_AT_ONCE)) {
    const some = { ...runs, destinationIds }
    total += await countUpTo(reader, twoLimits ? between(reader, some, page) : anyOf(reader, some, page))
    if (total >= COUNT_TO) return COUNT_TO
  }
  return total
}

const anyOf = (reader: Reader, { projectId, statuses, destinationIds }: Runs, page: Page): Deliveries => {
  const some = deliveriesOf(reader, projectId)
    .where('status', 'in', statuses)
    .where('destination_id', 'in', destinationIds)
  return since(until(some, page), page)
}

const between = (reader: Reader, runs: Runs, page: Page) => {
  const oldest = (run: Deliveries) =>
    since(run, page).select('created_at').orderBy('created_at').limit(COUNT_TO)
  const merged = unionOf(reader, runs, oldest).as('merged')
  return reader.read<DeliveryTables>().selectFrom(merged).where('created_at', '<', page.to!)
}

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
