import { type RawBuilder, type SqlBool, sql } from 'kysely'

/** What is asked for of a list that is newest first: between two times, and behind where the page before ended. */
export interface Span {
  readonly from?: number | undefined
  readonly to?: number | undefined
  readonly before?: { readonly at: number; readonly id: string } | undefined
}

/** Columns of a time and an id: what the list is ordered by. */
type Order = readonly [at: string, id: string]

const all = (conditions: readonly RawBuilder<unknown>[]): RawBuilder<SqlBool> =>
  conditions.length === 0 ? sql<SqlBool>`1 = 1` : sql<SqlBool>`${sql.join(conditions, sql` and `)}`

const since = ({ from }: Span, at: string) => (from === undefined ? [] : [sql`${sql.ref(at)} >= ${from}`])
const until = ({ to }: Span, at: string) => (to === undefined ? [] : [sql`${sql.ref(at)} < ${to}`])

/** Between the two times, wherever the page is: what `total` counts. */
export const withinTimes = (span: Span, at: string): RawBuilder<SqlBool> =>
  all([...since(span, at), ...until(span, at)])

/**
 * Behind the cursor, as one comparison of both columns, which an index answers with a seek: the last page costs what the
 * first does. Never beside `to`: the earlier of the two says it all, and of both an engine might take the other.
 */
export function behind(span: Span, [at, id]: Order): RawBuilder<SqlBool> {
  const { before, to } = span
  if (!before || before.at >= (to ?? Number.POSITIVE_INFINITY)) return all(until(span, at))
  return sql<SqlBool>`(${sql.ref(at)}, ${sql.ref(id)}) < (${before.at}, ${before.id})`
}

/** The rows of a page: since the earlier time, and behind the cursor. */
export const onPage = (span: Span, order: Order): RawBuilder<SqlBool> =>
  all([...since(span, order[0]), behind(span, order)])

/** A time to order by, but not by an index: for rows named by their ids, lest an engine looks for them by walking all. */
export const unindexed = (at: string): RawBuilder<number> => sql<number>`+${sql.ref(at)}`
