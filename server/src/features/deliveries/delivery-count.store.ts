import type { RawBuilder, SqlBool } from 'kysely'
import { COUNT_TO, countUpTo, type Reader, withinTimes } from '../../platform/database/index.ts'
import type { Page } from '../../platform/http/index.ts'
import type { DestinationTables } from '../webhooks/index.ts'
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
  reader: Reader,
  { projectId, groups }: Ranges,
  { failed, page, limit }: Counted & { readonly failed: RawBuilder<SqlBool> },
): Promise<number> {
  let total = 0
  for (const { state, destinationIds } of groups)
    for (const some of chunks(destinationIds, MAX_IDS)) {
      const deliveries = deliveriesTo(reader, { projectId, state, destinationIds: some }, page).where(failed)
      total += await countUpTo(reader, deliveries, limit)
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
  let left = limit
  for (const { state, destinationIds } of groups)
    for (const some of chunks(destinationIds, MAX_IDS)) {
      const rows = await deliveriesTo(reader, { projectId, state, destinationIds: some }, page)
        .select('deliveries.event_id')
        .limit(left)
        .execute()
      for (const { event_id } of rows) events.add(event_id)
      left -= rows.length
      if (left <= 0) return events.size
    }
  return events.size
}

/** A cross join makes SQLite read destinations first. */
const deliveriesTo = (reader: Reader, { projectId, state, destinationIds }: RangesOfState, page: Page) =>
  reader
    .read<DeliveryTables & DestinationTables>()
    .selectFrom('destinations')
    .crossJoin('deliveries')
    .where('destinations.project_id', '=', projectId)
    .where('destinations.id', 'in', destinationIds)
    .where('deliveries.project_id', '=', projectId)
    .where(isIn(state))
    .whereRef('deliveries.destination_id', '=', 'destinations.id')
    .where(withinTimes(page, 'deliveries.created_at'))
