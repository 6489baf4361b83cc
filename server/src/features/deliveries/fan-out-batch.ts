import type { Clock } from '../../platform/clock.ts'
import type { Reader } from '../../platform/database/index.ts'
import { newId, type RandomBytes } from '../../platform/secrets.ts'
import { type EventRow, findEvent, type WaitingEvent } from '../events/index.ts'
import { type DestinationRow, listLiveDestinations } from '../webhooks/index.ts'
import { listBehind } from './delivery.store.ts'
import type { DeliveryRow, PublicationRow } from './delivery.ts'
import type { Dispatcher, Kept } from './dispatcher.ts'
import { LEASE_MS } from './exchange.ts'
import type { FannedOut } from './fan-out-message.ts'
import { First } from './first-sends.ts'
import { makeDelivery, subscribersIn } from './make-delivery.ts'
import { type Fields, fieldsOf } from './publication.ts'

/** No further event is begun in a transaction that has this many: what is due waits behind it for the one writer of SQLite. */
const DELIVERIES_AT_ONCE = 500
const BYTES_AT_ONCE = 8 * 1024 * 1024

/** Where deliveries go at once while there is room, without being read from the store again. */
export type Outlet = Pick<Dispatcher, 'keep' | 'beginKept' | 'letGo'>

interface Deps {
  readonly random: RandomBytes
  readonly clock: Clock
  readonly outlet?: Outlet
}

/** The deliveries of some events, of which the outlet keeps a place for as many as it has room for. */
export class FanOutBatch {
  readonly #deps: Deps
  readonly claimId: string
  made: FannedOut[] = []
  /** The store's time. */
  now = 0
  /** The monotonic clock when it was asked for. */
  #at = 0
  #kept: Kept[] = []
  /** Deliveries that are to be claimed. */
  left = 0
  /** Destinations whose next delivery is not the next in their queue. */
  #behind: Set<string> = new Set()

  constructor(deps: Deps) {
    this.#deps = deps
    this.claimId = newId(deps.random, '')
  }

  get kept(): number {
    return this.#kept.length
  }

  async make(reader: Reader & { now(): Promise<number> }, events: readonly WaitingEvent[]): Promise<void> {
    const { clock, outlet } = this.#deps
    // Of a transaction that was rolled back, and is tried again.
    this.letGo()
    this.made = []
    this.left = 0
    if (events.length === 0) return
    this.#at = clock.monotonic()
    this.now = await reader.now()
    const projects = [...new Set(events.map(({ project_id }) => project_id))]
    const subscribers = subscribersIn(await listLiveDestinations(reader, projects))
    if (outlet) this.#behind = await listBehind(reader, projects, this.now)
    let [rows, bytes] = [0, 0]
    for (const event of events) {
      if (rows >= DELIVERIES_AT_ONCE || bytes >= BYTES_AT_ONCE) break
      const destinations = subscribers(event)
      const made = this.#fanOut(event, destinations, await fieldsFor(reader, event, destinations))
      this.made.push(made)
      rows += made.deliveries.length
      for (const { tail } of made.deliveries) bytes += tail.length
    }
  }

  #fanOut(
    event: WaitingEvent,
    destinations: readonly DestinationRow[],
    fields: Fields | undefined,
  ): FannedOut {
    const deliveries: DeliveryRow[] = []
    const publications: PublicationRow[] = []
    const kept: Kept[] = []
    for (const destination of destinations) {
      const { delivery, publication } = makeDelivery({ event, destination, fields, now: this.now })
      const place = this.#keepPlace(event, destination, delivery)
      if (place) kept.push(place)
      deliveries.push(delivery)
      if (publication) publications.push(publication)
    }
    const first = this.#firstOf(event, { deliveries, publications, kept })
    for (const one of kept) this.#kept.push(first ? { ...one, sending: { ...one.sending, first } } : one)
    return { event, first, deliveries, publications }
  }

  /** Where all of it is sent at once, it is sent first; but publications are written before anyone is told. */
  #firstOf(event: WaitingEvent, { deliveries, publications, kept }: Made): First | null {
    if (kept.length === 0 || kept.length < deliveries.length || publications.length > 0) return null
    const { project_id, id: event_id, created_at } = event
    return new First({ project_id, event_id, created_at, claim_id: this.claimId }, deliveries)
  }

  #keepPlace(event: WaitingEvent, destination: DestinationRow, delivery: DeliveryRow): Kept | undefined {
    const { outlet } = this.#deps
    // Held, until it is enabled.
    if (destination.active !== 1) return undefined
    const mayPass = hasData(event) && !this.#behind.has(destination.id)
    const kept = mayPass && outlet?.keep({ claimId: this.claimId, delivery, event, destination })
    if (kept) {
      delivery.claim_id = this.claimId
      delivery.next_attempt_at = this.now + LEASE_MS
      return kept
    }
    this.#behind.add(destination.id)
    this.left++
    return undefined
  }

  /** Of these events another process has taken care meanwhile. */
  leaveOut(events: ReadonlySet<string>): void {
    const isOut = ({ sending }: Kept) => events.has(sending.event.id)
    this.#deps.outlet?.letGo(this.#kept.filter(isOut))
    this.#kept = this.#kept.filter((kept) => !isOut(kept))
  }

  /** It is written. */
  begin(): void {
    if (this.#kept.length > 0) this.#deps.outlet?.beginKept(this.#kept, { now: this.now, at: this.#at })
  }

  letGo(): void {
    this.#deps.outlet?.letGo(this.#kept)
    this.#kept = []
  }
}

interface Made {
  readonly deliveries: readonly DeliveryRow[]
  readonly publications: readonly PublicationRow[]
  readonly kept: readonly Kept[]
}

const hasData = (event: WaitingEvent): event is EventRow => event.data !== null

/** Only publications need what an event tells. */
async function fieldsFor(
  reader: Reader,
  event: WaitingEvent,
  destinations: readonly DestinationRow[],
): Promise<Fields | undefined> {
  if (!destinations.some(({ kind }) => kind === 'distribution')) return undefined
  const told = hasData(event) ? event : await findEvent(reader, event.project_id, event.id)
  return told && fieldsOf(told)
}
