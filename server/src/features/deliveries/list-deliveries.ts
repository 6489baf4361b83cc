import { Problem } from '../../contract/problem.ts'
import { COUNT_TO, type Reader } from '../../platform/database/index.ts'
import type { Page, Rows } from '../../platform/http/index.ts'
import type { DeliveryStatus } from './delivery.ts'
import {
  type DeliveryHead,
  destinationsWith,
  findDestinationStates,
  type ListReader,
  listAll,
  listRanges,
} from './delivery-list.store.ts'
import { findContexts, listDeliveriesOfEvent } from './delivery-record.store.ts'
import {
  type DeliveryState,
  type DestinationState,
  isFailing,
  STORED_STATUSES,
  type StoredState,
  statusOf,
  storedAs,
} from './delivery-status.ts'
import type { ListedDelivery } from './delivery-view.ts'

export interface DeliveryFilter {
  readonly projectId: string
  readonly status?: DeliveryStatus | undefined
  readonly state?: DeliveryState | undefined
  readonly destination?: string | undefined
  readonly event?: string | undefined
}

/** A delivery with the destination that determines its status. */
type WithDestination = Omit<ListedDelivery, 'context'>

/**
 * Lists deliveries, newest first, from indexes. All deliveries of a project are read by time, and those of an event are
 * few. Any other list is merged from one index range per destination and state, each sorted newest first.
 */
export async function listDeliveries(
  reader: ListReader,
  filter: DeliveryFilter,
  page: Page,
): Promise<Rows<ListedDelivery>> {
  refuseFarPages(page)
  const { rows, total } = await findDeliveries(reader, filter, page)
  return { rows: await withContexts(reader, filter.projectId, rows), total }
}

/** One delivery, as in a list. */
export async function listed(reader: Reader, row: DeliveryHead): Promise<ListedDelivery> {
  const [destination] = await findDestinationStates(reader, row.project_id, [row.destination_id])
  const [context] = await findContexts(reader, row.project_id, [row])
  return { row, destination, context }
}

/** Adds the kind of the event and the last attempt. */
async function withContexts(
  reader: Reader,
  projectId: string,
  found: readonly WithDestination[],
): Promise<ListedDelivery[]> {
  const rows = found.map(({ row }) => row)
  const contexts = new Map((await findContexts(reader, projectId, rows)).map((one) => [one.id, one]))
  return found.map((one) => ({ ...one, context: contexts.get(one.row.id) }))
}

function findDeliveries(
  reader: ListReader,
  filter: DeliveryFilter,
  page: Page,
): Promise<Rows<WithDestination>> {
  if (filter.event !== undefined) return listOfEvent(reader, { ...filter, event: filter.event }, page)
  if ((filter.status ?? filter.state ?? filter.destination) === undefined)
    return listAll(reader, filter.projectId, page).then((found) => withStates(reader, filter, found))
  return listFiltered(reader, filter, page)
}

/** A page far behind would have to read all pages before it. */
function refuseFarPages({ offset, limit }: Page): void {
  if (offset + limit <= COUNT_TO) return
  throw new Problem('invalid_payload', {
    message: `page reaches only the ${COUNT_TO} newest.`,
    details: 'Continue with cursor, which is next_cursor of the previous page.',
  })
}

async function withStates(
  reader: Reader,
  { projectId }: DeliveryFilter,
  { rows, total }: Rows<DeliveryHead>,
): Promise<Rows<WithDestination>> {
  const ids = new Set(rows.map((row) => row.destination_id))
  const states = byId(await findDestinationStates(reader, projectId, [...ids]))
  return { rows: rows.map((row) => ({ row, destination: states.get(row.destination_id) })), total }
}

const byId = (states: readonly DestinationState[]) => new Map(states.map((one) => [one.id, one]))

async function listFiltered(
  reader: ListReader,
  filter: DeliveryFilter,
  page: Page,
): Promise<Rows<WithDestination>> {
  const { projectId, state, destination } = filter
  const status = filter.status ?? (state && 'pending')
  // Failing deliveries are always pending.
  if (state !== undefined && status !== 'pending') return { rows: [], total: 0 }
  const stored: StoredState | undefined = state ?? (status && storedAs(status))
  const destinations = (
    destination === undefined
      ? await destinationsWith(reader, projectId, stored!)
      : await findDestinationStates(reader, projectId, [destination])
  ).filter((one) => !status || statusOf({ status: storedAs(status) }, one) === status)
  const runs = {
    projectId,
    states: stored ? [stored] : STORED_STATUSES,
    destinationIds: destinations.map(({ id }) => id),
  }
  const { rows, total } = await listRanges(reader, runs, page)
  const states = byId(destinations)
  return { rows: rows.map((row) => ({ row, destination: states.get(row.destination_id) })), total }
}

/** An event has at most one delivery per destination, so all are read and filtered here. */
async function listOfEvent(
  reader: Reader,
  filter: DeliveryFilter & { event: string },
  page: Page,
): Promise<Rows<WithDestination>> {
  const { status, state, destination: to } = filter
  const rows = await listDeliveriesOfEvent(reader, filter.projectId, filter.event)
  const all = await withStates(reader, filter, { rows, total: rows.length })
  const wanted = all.rows
    .filter(({ row }) => to === undefined || row.destination_id === to)
    .filter(({ row, destination }) => status === undefined || statusOf(row, destination) === status)
    .filter(({ row, destination }) => state === undefined || isFailing(row, destination))
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
