import { COUNT_TO } from '../../platform/database/index.ts'
import type { Page, Rows } from '../../platform/http/index.ts'
import type { DeliveryStatus } from './delivery.ts'
import { countEventsIn } from './delivery-count.store.ts'
import { type DeliveryHead, type ListReader, newestInRanges } from './delivery-list.store.ts'
import { listDeliveriesOfEvents } from './delivery-record.store.ts'
import { type DestinationState, statusOf } from './delivery-status.ts'
import { isOlder, rangesOf } from './list-deliveries.ts'
import { countWaiting, listWaiting, type UndeliveredEvent } from './waiting-event.store.ts'

/** Statuses of a delivery that is neither delivered nor cancelled. */
const UNDELIVERED: readonly DeliveryStatus[] = ['pending', 'held', 'exhausted']

/** Deliveries that are read at a time, at least: an event may have several. */
const MIN_BATCH = 50

/** Events have no index of their own for this, so `total` is counted among so many deliveries. */
const COUNTED_DELIVERIES = 1_000

/**
 * Events that wait for the relay or have a delivery that is pending, held or exhausted: newest first, by when their
 * deliveries were made. Reads index ranges of undelivered deliveries only. An event with several of them is listed once,
 * with the newest.
 */
export async function listUndelivered(
  reader: ListReader,
  projectId: string,
  page: Page,
): Promise<Rows<UndeliveredEvent>> {
  const wanted = page.offset + page.limit + 1
  const batch = Math.max(MIN_BATCH, wanted)
  const { ranges, destinations } = await rangesOf(reader, { projectId, statuses: UNDELIVERED })
  const events = await listWaiting(reader, projectId, { ...page, limit: wanted, offset: 0 })
  const waiting = events.length
  let rows: DeliveryHead[] = []
  let { before } = page
  do {
    rows = await newestInRanges(reader, ranges, { ...page, limit: batch, offset: 0, before })
    events.push(...(await eventsOf(reader, rows, destinations)))
    const last = rows.at(-1)
    before = last && { at: last.created_at, id: last.id }
  } while (rows.length > batch && events.length < waiting + wanted)
  events.sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1))
  const counted = await countEventsIn(reader, ranges, { page, limit: COUNTED_DELIVERIES })
  const total = counted + (await countWaiting(reader, projectId, page))
  return { rows: events.slice(page.offset, wanted), total: Math.min(total, COUNT_TO) }
}

/** Each delivery that is the newest undelivered one of its event, as that event. */
async function eventsOf(
  reader: ListReader,
  rows: readonly DeliveryHead[],
  destinations: ReadonlyMap<string, DestinationState>,
): Promise<UndeliveredEvent[]> {
  if (rows.length === 0) return []
  const ids = [...new Set(rows.map(({ event_id }) => event_id))]
  const siblings = await listDeliveriesOfEvents(reader, rows[0]!.project_id, ids)
  const newest = new Map<string, DeliveryHead>()
  for (const one of siblings) {
    const known = newest.get(one.event_id)
    const isUndelivered = UNDELIVERED.includes(statusOf(one, destinations.get(one.destination_id)))
    if (isUndelivered && (!known || isOlder(known, one))) newest.set(one.event_id, one)
  }
  return rows
    .filter(({ id, event_id }) => newest.get(event_id)?.id === id)
    .map(({ id, event_id, created_at }) => ({ eventId: event_id, at: created_at, id }))
}
