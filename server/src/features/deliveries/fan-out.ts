import type { EventKind } from '../../contract/event-kinds.ts'
import { ID_PREFIX } from '../../contract/ids.ts'
import type { Database, Transaction } from '../../platform/database/index.ts'
import { newTimedId, type RandomBytes } from '../../platform/secrets.ts'
import { claimWaitingEvents, type EventHead, findEvent, markFannedOut } from '../events/index.ts'
import { type DestinationRow, eventsOf, listLiveDestinations } from '../webhooks/index.ts'
import { insertDeliveries, insertPublications } from './delivery.store.ts'
import type { DeliveryRow, PublicationRow } from './delivery.ts'
import { makePayload, type PayloadParts } from './payload.ts'
import { type Fields, fieldsOf, makePublication } from './publication.ts'

/** Events that one transaction takes. */
const EVENTS_AT_ONCE = 200
/** No further event is begun in a transaction that has written this many: the one writer of SQLite is not held for long. */
const DELIVERIES_AT_ONCE = 2_000
const BYTES_AT_ONCE = 8 * 1024 * 1024

interface Deps {
  readonly db: Database
  readonly random: RandomBytes
}

/**
 * Writes the deliveries and publications of events that wait for it, each event with its mark in one transaction: a
 * crash leaves either all of it or the event waiting. How many events it was; 0 when none wait.
 */
export const fanOut = (deps: Deps): Promise<number> => deps.db.transaction((tx) => fanOutSome(deps, tx))

async function fanOutSome(deps: Deps, tx: Transaction): Promise<number> {
  const events = await claimWaitingEvents(tx, EVENTS_AT_ONCE)
  if (events.length === 0) return 0
  const subscribers = subscribersIn(await listLiveDestinations(tx, projectsOf(events)))
  const now = await tx.now()
  const deliveries: DeliveryRow[] = []
  const publications: PublicationRow[] = []
  let bytes = 0
  let done = 0
  for (const event of events) {
    if (deliveries.length >= DELIVERIES_AT_ONCE || bytes >= BYTES_AT_ONCE) break
    const destinations = subscribers(event)
    const fields = await fieldsFor(tx, event, destinations)
    for (const destination of destinations) {
      const { delivery, publication } = makeDelivery(deps, { event, destination, fields, now })
      deliveries.push(delivery)
      if (publication) publications.push(publication)
      bytes += delivery.tail.length
    }
    done++
  }
  await insertDeliveries(tx, deliveries)
  await insertPublications(tx, publications)
  await markFannedOut(tx, events.slice(0, done), now)
  return done
}

/** Only publications need what an event tells, which may be long; the rest goes from the store to the receiver. */
async function fieldsFor(
  tx: Transaction,
  { project_id, id }: EventHead,
  destinations: readonly DestinationRow[],
): Promise<Fields | undefined> {
  if (!destinations.some(({ kind }) => kind === 'distribution')) return undefined
  return fieldsOf((await findEvent(tx, project_id, id))!)
}

const projectsOf = (events: readonly EventHead[]): string[] => [
  ...new Set(events.map(({ project_id }) => project_id)),
]

/** Who existed when an event was written and wants its kind; disabled ones too, whose deliveries are held. */
function subscribersIn(destinations: readonly DestinationRow[]) {
  const known = destinations.map((row) => ({
    row,
    kinds: eventsOf(row),
    skips: new Set<string>(JSON.parse(row.skips)),
  }))
  const byProject = Map.groupBy(known, ({ row }) => row.project_id)
  return (event: EventHead): DestinationRow[] =>
    (byProject.get(event.project_id) ?? [])
      .filter(
        ({ row, kinds, skips }) =>
          kinds.includes(event.kind as EventKind) &&
          !skips.has(event.id) &&
          (row.kind === 'webhook' || row.campaign_id === event.campaign_id),
      )
      .map(({ row }) => row)
}

interface Making {
  readonly event: EventHead
  /** Of the event, for a distribution. */
  readonly fields?: Fields | undefined
  readonly destination: PayloadParts['destination']
  readonly now: number
}

/** A delivery that is due. In the queue it stands by when its event was written, so that receivers get them in order. */
export function makeDelivery(
  { random }: { random: RandomBytes },
  { event, destination, fields, now }: Making,
) {
  const id = newTimedId(random, ID_PREFIX.delivery, now)
  const publication =
    destination.kind === 'distribution' && fields
      ? makePublication({ random }, { event, fields, distributionId: destination.id, now })
      : undefined
  const delivery: DeliveryRow = {
    project_id: event.project_id,
    id,
    event_id: event.id,
    destination_id: destination.id,
    status: 'pending',
    ...makePayload({ deliveryId: id, createdAt: now, event, destination, publication: publication?.data }),
    attempts_made: 0,
    slot: 0,
    first_attempt_at: null,
    next_attempt_at: Math.min(event.created_at, now),
    claim_id: null,
    created_at: now,
    settled_at: null,
  }
  return { delivery, publication }
}
