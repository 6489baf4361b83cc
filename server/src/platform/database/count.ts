import { type SelectQueryBuilder, sql } from 'kysely'
import type { Reader } from './database.ts'

/** Counting further would cost more than anyone learns from it: `total` of a list says at most this. */
export const COUNT_TO = 10_000

/** How many rows a query has, up to 10,000. */
export async function countUpTo(reader: Reader, query: unknown): Promise<number> {
  const rows = (query as SelectQueryBuilder<Record<string, never>, never, object>)
    .select(sql.lit(1).as('one') as never)
    .limit(COUNT_TO)
  const { total } = await reader
    .read<Record<string, never>>()
    .selectFrom(rows.as('counted') as never)
    .select(sql<number>`count(*)`.as('total') as never)
    .executeTakeFirstOrThrow()
  return total as number
}
