import { sql } from 'kysely'
import type { Reader, Transaction } from '../../platform/database/index.ts'
import {
  HOUR_MS,
  type Series,
  seriesId,
  USAGE_METRICS,
  type UsageDimension,
  type UsageMetric,
} from './usage.ts'
import type { Point } from './usage-counter.ts'

interface SeriesRow {
  id: number
  project_id: string
  dimension: UsageDimension
  key: string
  bucket: number
}

/** Counts of all metrics in one minute or hour. */
interface PointRow extends Record<UsageMetric, number> {
  series_id: number
  /** Start of the minute or hour. */
  at: number
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
          active_tokens: eb
            .case()
            .when(eb.ref(`${table}.active_tokens`), '<', eb.ref('excluded.active_tokens'))
            .then(eb.ref('excluded.active_tokens'))
            .else(eb.ref(`${table}.active_tokens`))
            .end(),
        })),
      )
      .execute()
}

async function insertSeries(tx: Transaction, series: readonly Series[]): Promise<void> {
  const rows = new Map(
    series.map((one) => {
      const id = seriesId(one)
      const { projectId: project_id, dimension, key, bucket } = one
      return [id, { id, project_id, dimension, key, bucket }]
    }),
  )
  await tx
    .write<UsageTables>()
    .insertInto('usage_series')
    .values([...rows.values()].sort((a, b) => a.id - b.id))
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

const NOTHING = Object.fromEntries(USAGE_METRICS.map((metric) => [metric, 0])) as Record<UsageMetric, number>

/** One row for each series and time. */
function rowsOf(points: readonly Point[], step: number): PointRow[] {
  const rows = new Map<string, PointRow>()
  for (const { series, at, count } of points) {
    const start = at - (at % step)
    const id = seriesId(series)
    const row = rows.get(`${id} ${start}`) ?? { series_id: id, at: start, ...NOTHING }
    row[series.metric] += count
    rows.set(`${id} ${start}`, row)
  }
  return [...rows.values()].sort((a, b) => a.series_id - b.series_id || a.at - b.at)
}

async function addRows(tx: Transaction, table: PointTable, rows: readonly PointRow[]): Promise<void> {
  const sums = USAGE_METRICS.map((metric) => [
    metric,
    sql<number>`${sql.ref(`${table}.${metric}`)} + ${sql.ref(`excluded.${metric}`)}`,
  ])
  await tx
    .write<UsageTables>()
    .insertInto(table)
    .values(rows)
    .onConflict((conflict) => conflict.columns(['series_id', 'at']).doUpdateSet(Object.fromEntries(sums)))
    .execute()
}

export interface UsageRange {
  /** Undefined for all projects together. */
  readonly projectId: string | undefined
  readonly metric: UsageMetric
  readonly dimension: UsageDimension
  readonly keys?: readonly string[] | undefined
  readonly withoutKeys?: readonly string[] | undefined
  readonly table: PointTable
  readonly from: number
  readonly to: number
}

/** Points of series. Latencies alone have more than one bucket. */
function pointsIn(reader: Reader, range: Omit<UsageRange, 'metric'>, isOneBucket: boolean) {
  const { projectId, dimension, keys, withoutKeys, table, from, to } = range
  return reader
    .read<UsageTables>()
    .selectFrom('usage_series')
    .innerJoin(`${table} as points`, 'points.series_id', 'usage_series.id')
    .where('usage_series.dimension', '=', dimension)
    .where('points.at', '>=', from)
    .where('points.at', '<', to)
    .$if(projectId !== undefined, (all) => all.where('usage_series.project_id', '=', projectId!))
    .$if(isOneBucket, (all) => all.where('usage_series.bucket', '=', 0))
    .$if(keys !== undefined, (all) => all.where('usage_series.key', 'in', keys!))
    .$if(withoutKeys !== undefined, (all) => all.where('usage_series.key', 'not in', withoutKeys!))
}

/** Points with a count. A row of another metric has none. */
const pointsWith = (reader: Reader, range: UsageRange) =>
  pointsIn(reader, range, range.metric !== 'delivery_latency').where(`points.${range.metric}`, '>', 0)

const sumOf = (metric: UsageMetric) => sql<number>`cast(sum(${sql.ref(`points.${metric}`)}) as bigint)`

export interface UsageTotal {
  metric: UsageMetric
  key: string
  bucket: number
  count: number
}

type TotalRange = Omit<UsageRange, 'metric'> & { readonly metrics: readonly UsageMetric[] }

/** Sums of each series, not of levels. */
export async function totalsOf(reader: Reader, { metrics, ...range }: TotalRange): Promise<UsageTotal[]> {
  const rows = await pointsIn(reader, range, !metrics.includes('delivery_latency'))
    .select(['usage_series.key', 'usage_series.bucket'])
    .select(metrics.map((metric) => sumOf(metric).as(metric)))
    .groupBy(['usage_series.key', 'usage_series.bucket'])
    .execute()
  return rows.flatMap(({ key, bucket, ...sums }) =>
    metrics.map((metric) => ({ metric, key, bucket, count: sums[metric]! })).filter(({ count }) => count > 0),
  )
}

export interface UsagePoint {
  key: string
  bucket: number
  at: number
  count: number
}

export const pointsOf = (reader: Reader, range: UsageRange): Promise<UsagePoint[]> =>
  pointsWith(reader, range)
    .select(['usage_series.key', 'usage_series.bucket', 'points.at', `points.${range.metric} as count`])
    .execute()

/** Sums of each project, for a metric that is not split. */
export const sumsByProject = (
  reader: Reader,
  range: Omit<UsageRange, 'dimension' | 'keys'>,
): Promise<{ project_id: string; count: number }[]> =>
  pointsWith(reader, { ...range, dimension: 'none' })
    .select(['usage_series.project_id', sumOf(range.metric).as('count')])
    .groupBy('usage_series.project_id')
    .execute()

/** All series together. */
export const sumsByTime = async (reader: Reader, range: UsageRange): Promise<UsagePoint[]> => {
  const rows = await pointsWith(reader, range)
    .select(['points.at', sumOf(range.metric).as('count')])
    .groupBy('points.at')
    .execute()
  return rows.map((row) => ({ ...row, key: '', bucket: 0 }))
}

/** The keys with the highest counts or levels, at most `limit`. */
export const largestKeys = async (reader: Reader, range: UsageRange, limit: number): Promise<string[]> =>
  (
    await pointsWith(reader, range)
      .select((eb) => ['usage_series.key', eb.fn.max(`points.${range.metric}`).as('highest')])
      .groupBy('usage_series.key')
      .orderBy('highest', 'desc')
      .limit(limit)
      .execute()
  ).map(({ key }) => key)

/** True for one process per minute: the one that samples levels. */
export async function claimSample(tx: Transaction, at: number): Promise<boolean> {
  // A series of its own: that of requests without a project may have a row for this minute.
  const series: Series = {
    ...{ projectId: '', metric: 'active_tokens', dimension: 'none', key: 'sample', bucket: 0 },
  }
  await insertSeries(tx, [series])
  const { numInsertedOrUpdatedRows } = await tx
    .write<UsageTables>()
    .insertInto('usage_minutes')
    .values({ series_id: seriesId(series), at, ...NOTHING })
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
