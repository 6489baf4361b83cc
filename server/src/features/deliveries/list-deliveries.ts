import { Problem } from '../../contract/problem.ts'
import { COUNT_TO, type Reader } from '../../platform/database/index.ts'
import type { Page, Rows } from '../../platform/http/index.ts'
import type { DeliveryStatus } from './delivery.ts'
import { listDeliveriesOfEvent } from './delivery-record.store.ts'
import {
  type DeliveryHead,
  destinationsWith,
  findDestinationStates,
  type ListReader,
  listAll,
  listRuns,
} from './delivery-runs.store.ts'
import { type DestinationState, STORED_STATUSES, statusOf, storedAs } from './delivery-status.ts'

export interface DeliveryFilter {
  readonly projectId: string
  readonly status?: DeliveryStatus | undefined
  readonly destination?: string | undefined
  readonly event?: string | undefined
}

/** With the destination that its status follows from. */
export interface ListedDelivery {
  readonly row: DeliveryHead
  readonly destination: DestinationState | undefined
}

/**
 * Newest first. No way reads past what was not asked for: all of a project come by their time; those of an event are
 * few; any others are merged from the runs of their destinations, each of which is newest first itself.
 */
export function listDeliveries(
  reader: ListReader,
  filter: DeliveryFilter,
  page: Page,
): Promise<Rows<ListedDelivery>> {
  refuseFarPages(page)
  if (filter.event !== undefined) return listOfEvent(reader, { ...filter, event: filter.event }, page)
  if (filter.status === undefined && filter.destination === undefined)
    return listAll(reader, filter.projectId, page).then((found) => withStates(reader, filter, found))
  return listFiltered(reader, filter, page)
}

/** Every page before it would have to be read as well. */
function refuseFarPages({ offset, limit }: Page): void {
  if (offset + limit <= COUNT_TO) return
  throw new Problem('invalid_payload', {
    message: `page reaches the ${COUNT_TO} newest only.`,
    details: 'Go on with cursor: it is next_cursor of the page before.',
  })
}

async function withStates(
  reader: Reader,
  { projectId }: DeliveryFilter,
  { rows, total }: Rows<DeliveryHead>,
): Promise<Rows<ListedDelivery>> {
  const ids = new Set(rows.map((row) => row.destination_id))
  const states = byId(await findDestinationStates(reader, projectId, [...ids]))
  return { rows: rows.map((row) => ({ row, destination: states.get(row.destination_id) })), total }
}

const byId = (states: readonly DestinationState[]) => new Map(states.map((one) => [one.id, one]))

async function listFiltered(
  reader: ListReader,
  filter: DeliveryFilter,
  page: Page,
): Promise<Rows<ListedDelivery>> {
  const { projectId, status, destination } = filter
  const stored = status && storedAs(status)
  const destinations = (
    destination === undefined
      ? await destinationsWith(reader, projectId, stored!)
      : await findDestinationStates(reader, projectId, [destination])
  ).filter((one) => !stored || statusOf({ status: stored }, one) === status)
  const runs = {
    projectId,
    statuses: stored ? [stored] : STORED_STATUSES,
    destinationIds: destinations.map(({ id }) => id),
  }
  const { rows, total } = await listRuns(reader, runs, page)
  const states = byId(destinations)
  return { rows: rows.map((row) => ({ row, destination: states.get(row.destination_id) })), total }
}

/** At most one for each destination, so all are read, and the rest is done here. */
async function listOfEvent(
  reader: Reader,
  filter: DeliveryFilter & { event: string },
  page: Page,
): Promise<Rows<ListedDelivery>> {
  const { status, destination: to } = filter
  const rows = await listDeliveriesOfEvent(reader, filter.projectId, filter.event)
  const all = await withStates(reader, filter, { rows, total: rows.length })
  const wanted = all.rows
    .filter(({ row }) => to === undefined || row.destination_id === to)
    .filter(({ row, destination }) => status === undefined || statusOf(row, destination) === status)
    .filter(({ row: { created_at: at } }) => at >= (page.from ?? at) && at < (page.to ?? at + 1))
    .sort((a, b) => (isOlder(a.row, b.row) ? 1 : -1))
  const { before } = page
  const behind = before ? { created_at: before.at, id: before.id } : undefined
  const left = behind ? wanted.filter(({ row }) => isOlder(row, behind)) : wanted
  return { rows: left.slice(page.offset, page.offset + page.limit + 1), total: wanted.length }
}

type Position = Pick<DeliveryHead, 'created_at' | 'id'>
const isOlder = (a: Position, b: Position): boolean =>
  a.created_at < b.created_at || (a.created_at === b.created_at && a.id < b.id)
