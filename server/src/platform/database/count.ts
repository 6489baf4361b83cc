import { type SelectQueryBuilder, sql } from 'kysely'
import type { Reader } from './database.ts'

/** Maximum `total` of a list, because counting further is expensive and rarely useful. */
export const COUNT_TO = 10_000

/** Counts the rows of a query, up to a limit. */
export async function countUpTo(reader: Reader, query: unknown, limit = COUNT_TO): Promise<number> {
  const rows = (query as SelectQueryBuilder<Record<string, never>, never, object>)
    .select(sql.lit(1).as('one') as never)
    .limit(limit)
  const { total } = await reader
    .read<Record<string, never>>()
    .selectFrom(rows.as('counted') as never)
    .select(sql<number>`count(*)`.as('total') as never)
    .executeTakeFirstOrThrow()
  return total as number
}
