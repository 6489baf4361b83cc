import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { COUNT_TO, withinTimes } from '../../platform/database/index.ts'
import type { Page } from '../../platform/http/index.ts'
import type { DeliveryTables } from './delivery.ts'
import {
  chunks,
  isIn,
  type ListReader,
  MAX_IDS,
  type Ranges,
  type RangesOfState,
} from './delivery-list.store.ts'
import { hasFailed } from './failure.store.ts'

interface Counted {
  readonly page: Page
  /** Where counting ends. */
  readonly limit: number
}

interface Filtered extends Counted {
  readonly failed: RawBuilder<SqlBool>
}

/** Counts the deliveries of a list on all its pages. */
export const countRanges = (reader: ListReader, ranges: Ranges, page: Page): Promise<number> =>
  countWhere(reader, ranges, { page, limit: COUNT_TO, failed: hasFailed(reader, ranges.failure, page) })

/** Counts the failures that a search by error has to read. */
export function countFailures(reader: ListReader, ranges: Ranges, counted: Counted): Promise<number> {
  const { httpStatus } = ranges.failure
  return countWhere(reader, ranges, {
    ...counted,
    failed: hasFailed(reader, { httpStatus, isFailure: true }),
  })
}

async function countWhere(
  reader: ListReader,
  { projectId, groups }: Ranges,
  { failed, page, limit }: Filtered,
): Promise<number> {
  let total = 0
  for (const { state, destinationIds } of groups)
    for (const some of chunks(destinationIds, MAX_IDS)) {
      const ranges = { projectId, state, destinationIds: some }
      const found = selectFrom(reader, sql`1`, ranges, { failed, page, limit })
      const counted = sql<{ n: number }>`select count(*) as n from (${found}) as counted`
      total += Number((await counted.execute(reader.read<DeliveryTables>() as never)).rows[0]!.n)
      if (total >= limit) return limit
    }
  return total
}

/** Counts the events of the deliveries in ranges, of up to `limit` deliveries. */
export async function countEventsIn(
  reader: ListReader,
  { projectId, groups }: Ranges,
  { page, limit }: Counted,
): Promise<number> {
  const events = new Set<string>()
  const failed = hasFailed(reader, {})
  let left = limit
  for (const { state, destinationIds } of groups)
    for (const some of chunks(destinationIds, MAX_IDS)) {
      const ranges = { projectId, state, destinationIds: some }
      const found = selectFrom(reader, sql`deliveries.event_id`, ranges, { failed, page, limit: left })
      const { rows } = await found.execute(reader.read<DeliveryTables>() as never)
      for (const { selected } of rows) events.add(selected)
      left -= rows.length
      if (left <= 0) return events.size
    }
  return events.size
}

/**
 * Selects from the deliveries of some destinations, up to a limit: one index range per destination. A cross join makes SQLite
 * read destinations first. PostgreSQL would compare each delivery with each destination, so it gets a lateral instead.
 */
function selectFrom(
  { engine }: ListReader,
  column: RawBuilder<unknown>,
  { projectId, state, destinationIds }: RangesOfState,
  { failed, page, limit }: Filtered,
): RawBuilder<{ selected: string }> {
  const wanted = sql`deliveries.project_id = ${projectId} and ${isIn(state)} and ${failed}
    and ${withinTimes(page, 'deliveries.created_at')}`
  if (engine === 'sqlite')
    return sql`select ${column} as selected from destinations cross join deliveries
      where destinations.project_id = ${projectId} and destinations.id in (${sql.join(destinationIds)})
        and ${wanted} and deliveries.destination_id = destinations.id limit ${limit}`
  return sql`select found.selected from unnest(${destinationIds}::text[]) as r(destination_id) cross join lateral (
      select ${column} as selected from deliveries
      where ${wanted} and deliveries.destination_id = r.destination_id limit ${limit}
    ) as found limit ${limit}`
}
