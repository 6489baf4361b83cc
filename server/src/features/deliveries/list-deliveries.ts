import { Problem } from '../../contract/problem.ts'
import { COUNT_TO, type Reader } from '../../platform/database/index.ts'
import type { Page, Rows } from '../../platform/http/index.ts'
import type { DeliveryStatus } from './delivery.ts'
import { countFailures, countRanges } from './delivery-count.store.ts'
import {
  type DeliveryHead,
  type ListReader,
  listAll,
  newestInRanges,
  type Ranges,
} from './delivery-list.store.ts'
import { findContexts, listDeliveriesOfEvent, listDeliveriesOfEvents } from './delivery-record.store.ts'
import {
  DELIVERY_STATUSES,
  type DeliveryState,
  type DestinationState,
  isFailing,
  type StoredState,
  statusOf,
  storedAs,
} from './delivery-status.ts'
import { type ListedDelivery, listedView } from './delivery-view.ts'
import { destinationsWith, findDestinationStates } from './destination-state.store.ts'
import { type FailureFilter, isFailureFilter, matchesFailure } from './failure.store.ts'

export interface DeliveryFilter extends FailureFilter {
  readonly projectId: string
  /** Any of these; all where none is named. */
  readonly statuses?: readonly DeliveryStatus[] | undefined
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

/** The deliveries of several events, by event, as lists show them. */
export async function deliveriesByEvent(
  reader: Reader,
  projectId: string,
  eventIds: readonly string[],
): Promise<Map<string, ReturnType<typeof listedView>[]>> {
  if (eventIds.length === 0) return new Map()
  const rows = await listDeliveriesOfEvents(reader, projectId, eventIds)
  const found = await withStates(reader, { projectId }, { rows, total: rows.length })
  const views = (await withContexts(reader, projectId, found.rows)).map(listedView)
  return Map.groupBy(views, ({ event_id }) => event_id)
}

/** How many deliveries of each event have each status; failing ones are pending, too. */
export async function countByEvent(
  reader: Reader,
  projectId: string,
  eventIds: readonly string[],
): Promise<Map<string, Record<DeliveryStatus | DeliveryState, number>>> {
  const counts = new Map(
    eventIds.map((id) => [id, { pending: 0, failing: 0, delivered: 0, held: 0, exhausted: 0, cancelled: 0 }]),
  )
  if (eventIds.length === 0) return counts
  const rows = await listDeliveriesOfEvents(reader, projectId, eventIds)
  const found = await withStates(reader, { projectId }, { rows, total: rows.length })
  for (const { row, destination } of found.rows) {
    const ofEvent = counts.get(row.event_id)!
    ofEvent[statusOf(row, destination)]++
    if (isFailing(row, destination)) ofEvent.failing++
  }
  return counts
}

/** One delivery as a list shows it. */
export async function listed(reader: Reader, row: DeliveryHead): Promise<ListedDelivery> {
  const [destination] = await findDestinationStates(reader, row.project_id, [row.destination_id])
  const [context] = await findContexts(reader, row.project_id, [row])
  return { row, destination, context }
}

/** Adds the kind of the event and the last attempt. */
export async function withContexts(
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
  const { statuses, state, destination } = filter
  if ((statuses ?? state ?? destination) === undefined && !isFailureFilter(filter))
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

/** A search by error reads every failure of its period, so the period is limited. */
const MAX_SEARCH_MS = 7 * 24 * 60 * 60_000

/** The last 7 days, or the part of them that is asked for. */
export function searchPeriod<Period extends Pick<Page, 'from' | 'to'>>(asked: Period, now: number): Period {
  const to = asked.to ?? now
  const from = asked.from ?? to - MAX_SEARCH_MS
  if (to - from <= MAX_SEARCH_MS) return { ...asked, from }
  throw new Problem('invalid_payload', {
    message: 'A search by error covers at most 7 days.',
    details: 'Send from and to that are at most 7 days apart. Without them the last 7 days are searched.',
  })
}

/** Failures that one search reads; more would take longer than a list may. */
const MAX_SEARCHED = 20_000

async function refuseLongSearch(reader: ListReader, ranges: Ranges, page: Page): Promise<void> {
  if ((await countFailures(reader, ranges, { page, limit: MAX_SEARCHED })) < MAX_SEARCHED) return
  throw new Problem('invalid_payload', {
    message: `${MAX_SEARCHED} or more deliveries failed in this period, too many to search by error.`,
    details: 'Send a shorter period (from, to), a destination, a status or an http_status.',
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
  const { ranges, destinations } = await rangesOf(reader, filter)
  if (filter.error !== undefined) await refuseLongSearch(reader, ranges, page)
  const rows = await newestInRanges(reader, ranges, page)
  const total = isWholeList(rows, page) ? rows.length : await countRanges(reader, ranges, page)
  return { rows: rows.map((row) => ({ row, destination: destinations.get(row.destination_id) })), total }
}

/** True if the first page is the only one: its rows need not be counted again. */
const isWholeList = (rows: readonly unknown[], { before, offset, limit }: Page): boolean =>
  !before && offset === 0 && rows.length <= limit

/** The index ranges that hold the wanted deliveries, and the destinations of these. */
export async function rangesOf(reader: ListReader, filter: DeliveryFilter) {
  const groups = await Promise.all(
    storedStatesOf(filter).map(async (state) => ({
      state,
      destinations: await destinationsIn(reader, filter, state),
    })),
  )
  const ranges: Ranges = {
    projectId: filter.projectId,
    groups: groups.map(({ state, destinations }) => ({
      state,
      destinationIds: destinations.map(({ id }) => id),
    })),
    failure: filter,
  }
  return { ranges, destinations: byId(groups.flatMap(({ destinations }) => destinations)) }
}

/** Where the wanted deliveries are stored. A pending one with an error is failing, and a delivered one has no error. */
function storedStatesOf(filter: DeliveryFilter): StoredState[] {
  const statuses = filter.statuses ?? DELIVERY_STATUSES
  const hasError = isFailureFilter(filter)
  if (filter.state !== undefined)
    return statuses.includes('pending') ? [hasError ? 'pending' : filter.state] : []
  const stored = new Set(statuses.map(storedAs))
  return [...stored].filter((state) => state !== 'delivered' || !hasError)
}

/** The destinations whose deliveries in a stored state have one of the wanted statuses. */
async function destinationsIn(
  reader: ListReader,
  { projectId, destination, statuses, state: isState }: DeliveryFilter,
  state: StoredState,
): Promise<DestinationState[]> {
  const found =
    destination === undefined
      ? await destinationsWith(reader, projectId, state)
      : await findDestinationStates(reader, projectId, [destination])
  const wanted = isState === undefined ? statuses : (['pending'] as const)
  const status = state === 'failing' ? 'pending' : state
  return found.filter((one) => !wanted || wanted.includes(statusOf({ status }, one) as 'pending'))
}

/** An event has at most one delivery per destination, so all are read and filtered here. */
async function listOfEvent(
  reader: Reader,
  filter: DeliveryFilter & { event: string },
  page: Page,
): Promise<Rows<WithDestination>> {
  const { statuses, state, destination: to } = filter
  const rows = await listDeliveriesOfEvent(reader, filter.projectId, filter.event)
  const all = await withStates(reader, filter, { rows, total: rows.length })
  const wanted = all.rows
    .filter(({ row }) => to === undefined || row.destination_id === to)
    .filter(({ row, destination }) => !statuses || statuses.includes(statusOf(row, destination)))
    .filter(({ row }) => matchesFailure(row, filter))
    .filter(({ row, destination }) => state === undefined || isFailing(row, destination))
    .filter(({ row: { created_at: at } }) => at >= (page.from ?? at) && at < (page.to ?? at + 1))
    .sort((a, b) => (isOlder(a.row, b.row) ? 1 : -1))
  const { before } = page
  const behind = before ? { created_at: before.at, id: before.id } : undefined
  const left = behind ? wanted.filter(({ row }) => isOlder(row, behind)) : wanted
  return { rows: left.slice(page.offset, page.offset + page.limit + 1), total: wanted.length }
}

type Position = Pick<DeliveryHead, 'created_at' | 'id'>
export const isOlder = (a: Position, b: Position): boolean =>
  a.created_at < b.created_at || (a.created_at === b.created_at && a.id < b.id)
