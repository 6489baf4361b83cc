import { type RawBuilder, type SqlBool, sql } from 'kysely'
import {
  afterCursor,
  countUpTo,
  type Database,
  onPage,
  type Reader,
  unindexed,
  withinTimes,
} from '../../platform/database/index.ts'
import type { Page, Rows } from '../../platform/http/index.ts'
import type { DeliveryRow, DeliveryTables } from './delivery.ts'
import type { StoredState } from './delivery-status.ts'
import { type FailureFilter, hasFailed } from './failure.store.ts'

/** The engines merge ranges with different SQL. */
export type ListReader = Pick<Database, 'read' | 'engine'>

/** A delivery without payload and response, so that lists stay small. */
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
  'last_status',
  'last_error',
] as const

/** One index range per state and destination. `failing` is never combined with another state. */
export interface Ranges {
  readonly projectId: string
  readonly groups: readonly RangeGroup[]
  readonly failure: FailureFilter
}

export interface RangeGroup {
  readonly state: StoredState
  readonly destinationIds: readonly string[]
}

/** Ranges merged by one statement. SQLite allows 500 parts. */
const MAX_RANGES = 120
/** Ids in one statement: far below the limit of either engine. */
export const MAX_IDS = 1_000

export function* chunks<T>(all: readonly T[], size: number): Generator<readonly T[]> {
  for (let i = 0; i < all.length; i += size) yield all.slice(i, i + size)
}

const ORDER = ['created_at', 'id'] as const

/** Conditions of partial indexes are literals, because SQLite does not match them with parameters. */
export const isIn = (state: StoredState): RawBuilder<SqlBool> =>
  state === 'failing'
    ? sql<SqlBool>`deliveries.status = 'pending' and deliveries.attempts_made > 0`
    : sql<SqlBool>`deliveries.status = ${state}`

const deliveriesOf = (reader: Reader, projectId: string) =>
  reader.read<DeliveryTables>().selectFrom('deliveries').where('project_id', '=', projectId)

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

/** Sort key of a delivery. For deliveries that are not shown, only this is read, from an index. */
type Position = Pick<DeliveryRow, 'created_at' | 'id'>

interface Range {
  readonly projectId: string
  readonly state: StoredState
  readonly destinationId: string
}

export interface RangesOfState extends RangeGroup {
  readonly projectId: string
}

/** Merges the newest deliveries of several index ranges, so that nothing else is read, however long the ranges are. */
export async function newestInRanges(
  reader: ListReader,
  ranges: Ranges,
  page: Page,
): Promise<DeliveryHead[]> {
  const slice = sliceOf(reader, ranges, page)
  let positions: readonly Position[] = []
  for (const some of chunks(await rangesToMerge(reader, ranges, slice), MAX_RANGES)) {
    const found = await mergeRanges(reader, some, slice)
    positions =
      positions.length === 0
        ? found
        : await newestAmong(reader, ranges.projectId, [...positions, ...found], slice.limit)
  }
  const shown = positions.slice(page.offset)
  return shown.length === 0 ? [] : newestAmong(reader, ranges.projectId, shown, shown.length)
}

const sliceOf = (reader: ListReader, { failure }: Ranges, page: Page): Slice => ({
  page,
  limit: page.offset + page.limit + 1,
  failed: hasFailed(reader, failure, page),
})

interface Slice {
  readonly page: Page
  readonly limit: number
  readonly failed: RawBuilder<SqlBool>
}

/** With more ranges than rows to show, only those with the newest deliveries can contribute. */
async function rangesToMerge(reader: Reader, { projectId, groups }: Ranges, slice: Slice): Promise<Range[]> {
  const found: Range[] = []
  for (const { state, destinationIds } of groups)
    for (const some of chunks(destinationIds, MAX_IDS)) {
      const together = { projectId, state, destinationIds: some }
      const ids = some.length > slice.limit ? await newestDestinations(reader, together, slice) : some
      found.push(...ids.map((destinationId) => ({ projectId, state, destinationId })))
    }
  return found
}

/** One index seek per destination. */
async function newestDestinations(
  reader: Reader,
  { projectId, state, destinationIds }: RangesOfState,
  { page, limit, failed }: Slice,
): Promise<string[]> {
  const found = sql<{ id: string }>`
    select heads.id from (
      select d.id, (
        select id from deliveries
        where project_id = ${projectId} and ${isIn(state)} and destination_id = d.id
          and ${failed} and ${afterCursor(page, ORDER)}
        order by created_at desc, id desc limit 1
      ) as newest
      from destinations d where d.project_id = ${projectId} and d.id in (${sql.join(destinationIds)})
    ) heads
    join deliveries x on x.project_id = ${projectId} and x.id = heads.newest
    order by x.created_at desc, x.id desc limit ${limit}`
  return (await found.execute(reader.read<DeliveryTables>() as never)).rows.map(({ id }) => id)
}

/** `from` is applied after merging: older deliveries are at the end of every range, so they displace none. */
async function mergeRanges(reader: ListReader, ranges: readonly Range[], slice: Slice): Promise<Position[]> {
  const { page, limit } = slice
  const all = reader.engine === 'sqlite' ? oneByOne(ranges, slice) : lateralOf(ranges, slice)
  const merged = sql<Position>`
    select created_at, id from (${all}) as merged
    where created_at >= ${page.from ?? 0} order by created_at desc, id desc limit ${limit}`
  return [...(await merged.execute(reader.read<DeliveryTables>() as never)).rows]
}

interface RangeColumns {
  readonly inState: RawBuilder<SqlBool>
  readonly destination_id: unknown
}

const newestOf = (
  projectId: string,
  { inState, destination_id }: RangeColumns,
  { page, limit, failed }: Slice,
) => sql`
  select created_at, id from deliveries
  where project_id = ${projectId} and ${inState} and destination_id = ${destination_id}
    and ${failed} and ${afterCursor(page, ORDER)}
  order by created_at desc, id desc limit ${limit}`

/** SQLite has no `lateral`. */
const oneByOne = (ranges: readonly Range[], slice: Slice) =>
  sql.join(
    ranges.map(({ projectId, state, destinationId: destination_id }) => {
      return sql`select * from (${newestOf(projectId, { inState: isIn(state), destination_id }, slice)}) as range_rows`
    }),
    sql` union all `,
  )

/** PostgreSQL takes longer to plan a union of a hundred parts than to run it. */
function lateralOf(ranges: readonly Range[], slice: Slice) {
  const [states, ids] = [ranges.map(({ state }) => state), ranges.map(({ destinationId }) => destinationId)]
  const inState = states[0] === 'failing' ? isIn('failing') : sql<SqlBool>`deliveries.status = r.state`
  const columns = { inState, destination_id: sql.ref('r.destination_id') }
  return sql`
    select range_rows.* from unnest(${states}::text[], ${ids}::text[]) as r(state, destination_id)
    cross join lateral (${newestOf(ranges[0]!.projectId, columns, slice)}) as range_rows`
}

/** Sorts in the store, because its text order may differ from JavaScript's. */
async function newestAmong(
  reader: ListReader,
  projectId: string,
  positions: readonly Position[],
  limit: number,
): Promise<DeliveryHead[]> {
  const ids = positions.map(({ id }) => id)
  const found = sql<DeliveryHead>`
    select ${sql.join(HEAD.map((name) => sql.ref(name)))} from ${reader.engine === 'sqlite' ? inList(projectId, ids) : oneByKey(projectId, ids)}
    order by ${unindexed('created_at')} desc, id desc limit ${limit}`
  return [...(await found.execute(reader.read<DeliveryTables>() as never)).rows]
}

const inList = (projectId: string, ids: readonly string[]) =>
  sql`deliveries where project_id = ${projectId} and id in (${sql.join(ids)})`

/** Until the table has been analyzed, PostgreSQL may read a whole project for a list of ids. */
const oneByKey = (projectId: string, ids: readonly string[]) => sql`
  unnest(${ids}::text[]) as wanted(wanted_id)
  cross join lateral (select * from deliveries where project_id = ${projectId} and id = wanted_id limit 1) as found`
