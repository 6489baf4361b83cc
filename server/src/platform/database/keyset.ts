import { type RawBuilder, type SqlBool, sql } from 'kysely'

/** Part of a list, newest first: between two times, and after the last row of the previous page. */
export interface KeysetRange {
  readonly from?: number | undefined
  readonly to?: number | undefined
  readonly before?: { readonly at: number; readonly id: string } | undefined
}

/** Columns that order the list: a time and an id. */
type Order = readonly [at: string, id: string]

const all = (conditions: readonly RawBuilder<unknown>[]): RawBuilder<SqlBool> =>
  conditions.length === 0 ? sql<SqlBool>`1 = 1` : sql<SqlBool>`${sql.join(conditions, sql` and `)}`

const since = ({ from }: KeysetRange, at: string) =>
  from === undefined ? [] : [sql`${sql.ref(at)} >= ${from}`]
const until = ({ to }: KeysetRange, at: string) => (to === undefined ? [] : [sql`${sql.ref(at)} < ${to}`])

/** Rows between the two times: the rows that `total` counts. */
export const withinTimes = (range: KeysetRange, at: string): RawBuilder<SqlBool> =>
  all([...since(range, at), ...until(range, at)])

/**
 * Rows after the cursor. One comparison of both columns is an index seek, so the last page costs as much as the first.
 * `to` is omitted if the cursor is earlier: with both conditions an engine might seek by the wrong one.
 */
export function afterCursor(range: KeysetRange, [at, id]: Order): RawBuilder<SqlBool> {
  const { before, to } = range
  if (!before || before.at >= (to ?? Number.POSITIVE_INFINITY)) return all(until(range, at))
  return sql<SqlBool>`(${sql.ref(at)}, ${sql.ref(id)}) < (${before.at}, ${before.id})`
}

/** The rows of a page: since the earlier time, and after the cursor. */
export const onPage = (range: KeysetRange, order: Order): RawBuilder<SqlBool> =>
  all([...since(range, order[0]), afterCursor(range, order)])

/** A time to sort by without its index. For rows selected by id, where an engine might otherwise scan the index. */
export const unindexed = (at: string): RawBuilder<number> => sql<number>`+${sql.ref(at)}`
