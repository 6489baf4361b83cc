import { sql } from 'kysely'
import type { Reader, Transaction } from '../../platform/database/index.ts'
import { HOUR_MS, type Series, seriesId, type UsageDimension, type UsageMetric } from './usage.ts'
import type { Point } from './usage-counter.ts'

interface SeriesRow {
  id: number
  project_id: string
  metric: UsageMetric
  dimension: UsageDimension
  key: string
  bucket: number
}

interface PointRow {
  series_id: number
  /** Start of the minute or hour. */
  at: number
  count: number
}

interface UsageTables {
  usage_series: SeriesRow
  usage_minutes: PointRow
  usage_hours: PointRow
}

export type PointTable = 'usage_minutes' | 'usage_hours'

/** Adds points to their minutes and hours. Rows are written in one order by every process, so that none wait in a circle. */
export async function addPoints(tx: Transaction, points: readonly Point[]): Promise<void> {
  await insertSeries(
    tx,
    points.map(({ series }) => series),
  )
  await addRows(tx, 'usage_minutes', rowsOf(points, 1))
  await addRows(tx, 'usage_hours', rowsOf(points, HOUR_MS))
}

/** Keeps the highest level that was seen in a minute or hour. */
export async function raiseLevels(tx: Transaction, points: readonly Point[]): Promise<void> {
  await insertSeries(
    tx,
    points.map(({ series }) => series),
  )
  for (const [table, step] of [
    ['usage_minutes', 1],
    ['usage_hours', HOUR_MS],
  ] as const)
    await tx
      .write<UsageTables>()
      .insertInto(table)
      .values(rowsOf(points, step))
      .onConflict((conflict) =>
        conflict.columns(['series_id', 'at']).doUpdateSet((eb) => ({
          count: eb
            .case()
            .when(eb.ref(`${table}.count`), '<', eb.ref('excluded.count'))
            .then(eb.ref('excluded.count'))
            .else(eb.ref(`${table}.count`))
            .end(),
        })),
      )
      .execute()
}

async function insertSeries(tx: Transaction, series: readonly Series[]): Promise<void> {
  const rows = new Map(
    series.map((one) => {
      const id = seriesId(one)
      const { projectId: project_id, metric, dimension, key, bucket } = one
      return [id, { id, project_id, metric, dimension, key, bucket }]
    }),
  )
  await tx
    .write<UsageTables>()
    .insertInto('usage_series')
    .values([...rows.values()].sort((a, b) => a.id - b.id))
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

function rowsOf(points: readonly Point[], step: number): PointRow[] {
  const rows = new Map<string, PointRow>()
  for (const { series, at, count } of points) {
    const row = { series_id: seriesId(series), at: at - (at % step), count }
    const known = rows.get(`${row.series_id} ${row.at}`)
    if (known) known.count += count
    else rows.set(`${row.series_id} ${row.at}`, row)
  }
  return [...rows.values()].sort((a, b) => a.series_id - b.series_id || a.at - b.at)
}

async function addRows(tx: Transaction, table: PointTable, rows: readonly PointRow[]): Promise<void> {
  await tx
    .write<UsageTables>()
    .insertInto(table)
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .columns(['series_id', 'at'])
        .doUpdateSet({ count: sql<number>`${sql.ref(`${table}.count`)} + excluded.count` }),
    )
    .execute()
}

export interface UsageRange {
  /** Undefined for all projects together. */
  readonly projectId: string | undefined
  readonly metrics: readonly UsageMetric[]
  readonly dimension: UsageDimension
  readonly keys?: readonly string[] | undefined
  readonly withoutKeys?: readonly string[] | undefined
  readonly table: PointTable
  readonly from: number
  readonly to: number
}

function pointsIn(reader: Reader, range: UsageRange) {
  const { projectId, metrics, dimension, keys, withoutKeys, table, from, to } = range
  let query = reader
    .read<UsageTables>()
    .selectFrom('usage_series')
    .innerJoin(`${table} as points`, 'points.series_id', 'usage_series.id')
    .$if(projectId !== undefined, (all) => all.where('usage_series.project_id', '=', projectId!))
    .where('usage_series.metric', 'in', metrics)
    .where('usage_series.dimension', '=', dimension)
    .where('points.at', '>=', from)
    .where('points.at', '<', to)
  if (keys) query = query.where('usage_series.key', 'in', keys)
  if (withoutKeys) query = query.where('usage_series.key', 'not in', withoutKeys)
  return query
}

export interface UsageTotal {
  metric: UsageMetric
  key: string
  bucket: number
  count: number
}

/** Sums of each series, not of levels. */
export const totalsOf = (reader: Reader, range: UsageRange): Promise<UsageTotal[]> =>
  pointsIn(reader, range)
    .select((eb) => [
      'usage_series.metric',
      'usage_series.key',
      'usage_series.bucket',
      sql<number>`cast(${eb.fn.sum('points.count')} as bigint)`.as('count'),
    ])
    .groupBy(['usage_series.metric', 'usage_series.key', 'usage_series.bucket'])
    .execute()

export interface UsagePoint {
  key: string
  bucket: number
  at: number
  count: number
}

export const pointsOf = (reader: Reader, range: UsageRange): Promise<UsagePoint[]> =>
  pointsIn(reader, range)
    .select(['usage_series.key', 'usage_series.bucket', 'points.at', 'points.count'])
    .execute()

/** Sums of each project, for a metric that is not split. */
export const sumsByProject = (
  reader: Reader,
  {
    projectId,
    metric,
    table,
    from,
    to,
  }: Omit<UsageRange, 'metrics' | 'dimension' | 'keys'> & { metric: UsageMetric },
): Promise<{ project_id: string; count: number }[]> =>
  reader
    .read<UsageTables>()
    .selectFrom('usage_series')
    .innerJoin(`${table} as points`, 'points.series_id', 'usage_series.id')
    .$if(projectId !== undefined, (all) => all.where('usage_series.project_id', '=', projectId!))
    .where('usage_series.metric', '=', metric)
    .where('usage_series.dimension', '=', 'none')
    .where('points.at', '>=', from)
    .where('points.at', '<', to)
    .select((eb) => [
      'usage_series.project_id',
      sql<number>`cast(${eb.fn.sum('points.count')} as bigint)`.as('count'),
    ])
    .groupBy('usage_series.project_id')
    .execute()

/** All series together. */
export const sumsByTime = async (reader: Reader, range: UsageRange): Promise<UsagePoint[]> => {
  const rows = await pointsIn(reader, range)
    .select((eb) => ['points.at', sql<number>`cast(${eb.fn.sum('points.count')} as bigint)`.as('count')])
    .groupBy('points.at')
    .execute()
  return rows.map((row) => ({ ...row, key: '', bucket: 0 }))
}

/** The keys with the highest counts or levels, at most `limit`. */
export const largestKeys = async (reader: Reader, range: UsageRange, limit: number): Promise<string[]> =>
  (
    await pointsIn(reader, range)
      .select((eb) => ['usage_series.key', eb.fn.max('points.count').as('highest')])
      .groupBy('usage_series.key')
      .orderBy('highest', 'desc')
      .limit(limit)
      .execute()
  ).map(({ key }) => key)

/** True for one process per minute: the one that samples levels. */
export async function claimSample(tx: Transaction, at: number): Promise<boolean> {
  const series: Series = { projectId: '', metric: 'active_tokens', dimension: 'none', key: '', bucket: 0 }
  await insertSeries(tx, [series])
  const { numInsertedOrUpdatedRows } = await tx
    .write<UsageTables>()
    .insertInto('usage_minutes')
    .values({ series_id: seriesId(series), at, count: 0 })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return numInsertedOrUpdatedRows === 1n
}

export const listSeriesIds = async (reader: Reader, after: number, limit: number): Promise<number[]> =>
  (
    await reader
      .read<UsageTables>()
      .selectFrom('usage_series')
      .select('id')
      .where('id', '>', after)
      .orderBy('id')
      .limit(limit)
      .execute()
  ).map(({ id }) => id)

interface OldPoints {
  readonly ids: readonly number[]
  readonly minutesBefore: number
  readonly hoursBefore: number
}

/** Removes the old points of these series, and the series that have none left. */
export async function deleteOldPoints(
  tx: Transaction,
  { ids, minutesBefore, hoursBefore }: OldPoints,
): Promise<void> {
  const db = tx.write<UsageTables>()
  await db.deleteFrom('usage_minutes').where('series_id', 'in', ids).where('at', '<', minutesBefore).execute()
  await db.deleteFrom('usage_hours').where('series_id', 'in', ids).where('at', '<', hoursBefore).execute()
  await db
    .deleteFrom('usage_series')
    .where('id', 'in', ids)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('usage_hours').select('at').whereRef('usage_hours.series_id', '=', 'usage_series.id'),
        ),
      ),
    )
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('usage_minutes')
            .select('at')
            .whereRef('usage_minutes.series_id', '=', 'usage_series.id'),
        ),
      ),
    )
    .execute()
}

export const listSeriesOfProject = async (
  reader: Reader,
  projectId: string,
  limit: number,
): Promise<number[]> =>
  (
    await reader
      .read<UsageTables>()
      .selectFrom('usage_series')
      .select('id')
      .where('project_id', '=', projectId)
      .limit(limit)
      .execute()
  ).map(({ id }) => id)

export async function deleteSeries(tx: Transaction, ids: readonly number[]): Promise<void> {
  const db = tx.write<UsageTables>()
  await db.deleteFrom('usage_minutes').where('series_id', 'in', ids).execute()
  await db.deleteFrom('usage_hours').where('series_id', 'in', ids).execute()
  await db.deleteFrom('usage_series').where('id', 'in', ids).execute()
}
