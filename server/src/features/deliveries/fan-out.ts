import type { EventKind } from '../../contract/event-kinds.ts'
import { ID_PREFIX } from '../../contract/ids.ts'
import type { Database, Reader, SqliteDatabase, Transaction } from '../../platform/database/index.ts'
import { newTimedId, type RandomBytes } from '../../platform/secrets.ts'
import { sibling } from '../../platform/sibling.ts'
import {
  claimWaitingEvents,
  type EventHead,
  findEvent,
  listWaitingEvents,
  markFannedOutOnPostgres,
} from '../events/index.ts'
import { type DestinationRow, eventsOf, listLiveDestinations } from '../webhooks/index.ts'
import { insertAllOnPostgres, lookUpByKeyOnPostgres } from './delivery.store.ts'
import type { DeliveryRow, PublicationRow } from './delivery.ts'
import type { FannedOut, FanOutMessage } from './fan-out-message.ts'
import { makePayload, type PayloadParts } from './payload.ts'
import { type Fields, fieldsOf, makePublication } from './publication.ts'

/** Events that one transaction takes. */
const EVENTS_AT_ONCE = 200
/** No further event is begun in a transaction that has this many: what is due waits behind it for the one writer of SQLite. */
const DELIVERIES_AT_ONCE = 500
const BYTES_AT_ONCE = 8 * 1024 * 1024

const SQLITE_PROGRAM = sibling(import.meta.url, './fan-out.sqlite')

interface Deps {
  readonly db: Database
  readonly random: RandomBytes
}

/**
 * Writes the deliveries and publications of events that wait for it, each event with its mark in one transaction: a
 * crash leaves either all of it or the event waiting. How many events it was; 0 when none wait.
 */
export const fanOut = ({ db, random }: Deps): Promise<number> =>
  db.engine === 'sqlite' ? fanOutOnSqlite(db, random) : db.transaction((tx) => fanOutOnPostgres(tx, random))

/**
 * Read beside the one writer, and written in a single turn of it, which leaves alone what another process has marked
 * meanwhile. A destination that comes in between skips these events in any case, since they still wait.
 */
async function fanOutOnSqlite(db: SqliteDatabase, random: RandomBytes): Promise<number> {
  const events = await listWaitingEvents(db, EVENTS_AT_ONCE)
  const now = await db.now()
  const made = await makeSome(random, db, events, now)
  if (made.length > 0)
    await db.runProgram<FanOutMessage, void>(SQLITE_PROGRAM, { now, made: JSON.stringify(made) })
  return made.length
}

async function fanOutOnPostgres(tx: Transaction, random: RandomBytes): Promise<number> {
  await lookUpByKeyOnPostgres(tx)
  const events = await claimWaitingEvents(tx, EVENTS_AT_ONCE)
  const now = await tx.now()
  const made = await makeSome(random, tx, events, now)
  if (made.length === 0) return 0
  await insertAllOnPostgres(
    tx,
    'deliveries',
    made.flatMap(({ deliveries }) => deliveries),
  )
  await insertAllOnPostgres(
    tx,
    'publications',
    made.flatMap(({ publications }) => publications),
  )
  await markFannedOutOnPostgres(
    tx,
    made.map(({ event }) => event),
    now,
  )
  return made.length
}

async function makeSome(
  random: RandomBytes,
  reader: Reader,
  events: readonly EventHead[],
  now: number,
): Promise<FannedOut[]> {
  if (events.length === 0) return []
  const subscribers = subscribersIn(await listLiveDestinations(reader, projectsOf(events)))
  const made: FannedOut[] = []
  let [rows, bytes] = [0, 0]
  for (const event of events) {
    if (rows >= DELIVERIES_AT_ONCE || bytes >= BYTES_AT_ONCE) break
    const destinations = subscribers(event)
    const fields = await fieldsFor(reader, event, destinations)
    const deliveries: DeliveryRow[] = []
    const publications: PublicationRow[] = []
    for (const destination of destinations) {
      const { delivery, publication } = makeDelivery({ random }, { event, destination, fields, now })
      deliveries.push(delivery)
      if (publication) publications.push(publication)
      bytes += delivery.tail.length
    }
    rows += deliveries.length
    made.push({ event, deliveries, publications })
  }
  return made
}

/** Only publications need what an event tells, which may be long; the rest goes from the store to the receiver. */
async function fieldsFor(
  reader: Reader,
  { project_id, id }: EventHead,
  destinations: readonly DestinationRow[],
): Promise<Fields | undefined> {
  if (!destinations.some(({ kind }) => kind === 'distribution')) return undefined
  const event = await findEvent(reader, project_id, id)
  return event && fieldsOf(event)
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
