import type { Reader } from '../../platform/database/index.ts'
import { type EventData, findEvent, type WaitingEvent } from '../events/index.ts'
import type { DeliveryRow, PublicationRow } from './delivery.ts'
import type { Dispatcher, Kept } from './dispatcher.ts'
import { type ClaimedDestination, LEASE_MS } from './exchange.ts'
import type { FannedOut } from './fan-out-message.ts'
import { First } from './first-sends.ts'
import { makeDelivery, subscribersIn } from './make-delivery.ts'
import { type Fields, fieldsOf } from './publication.ts'
import type { TakenEvents } from './taken-events.ts'

/** No further event is begun in a transaction that has this many: what is due waits behind it for the one writer of SQLite. */
export const DELIVERIES_AT_ONCE = 500
const BYTES_AT_ONCE = 8 * 1024 * 1024

/** Where deliveries go at once while there is room, without being read from the store again. */
export type Outlet = Pick<Dispatcher, 'keep' | 'isQuick' | 'beginKept' | 'letGo'>

interface Parts {
  readonly outlet: Outlet | undefined
  readonly claimId: string
  /** The monotonic clock when the store was asked. */
  readonly at: number
  readonly taken: TakenEvents
}

/** The deliveries of some events, of which the outlet keeps a place for as many as it has room for. */
export class FanOutBatch {
  readonly #outlet: Outlet | undefined
  readonly #claimId: string
  readonly #at: number
  readonly #taken: TakenEvents
  readonly made: FannedOut[] = []
  #kept: Kept[] = []
  /** Deliveries that are to be claimed. */
  left = 0
  /** Of these, deliveries to receivers that take all that they get, and that need not go by the store. */
  leftToQuick = 0
  /** Destinations whose next delivery is not the next in their queue. */
  readonly #behind: Set<string>

  constructor({ outlet, claimId, at, taken }: Parts) {
    this.#outlet = outlet
    this.#claimId = claimId
    this.#at = at
    this.#taken = taken
    this.#behind = new Set(taken.behind)
  }

  get kept(): number {
    return this.#kept.length
  }

  /** As many as one batch may have. */
  async make(reader: Reader): Promise<void> {
    const { events, destinations } = this.#taken
    const subscribers = subscribersIn(destinations)
    let [rows, bytes] = [0, 0]
    for (const event of events) {
      if (rows >= DELIVERIES_AT_ONCE || bytes >= BYTES_AT_ONCE) break
      const wanted = subscribers(event)
      const needsFields = wanted.some(({ kind }) => kind === 'distribution')
      const made = this.#fanOut(event, wanted, needsFields ? await fieldsFor(reader, event) : undefined)
      this.made.push(made)
      rows += made.deliveries.length
      for (const { tail } of made.deliveries) bytes += tail.length
    }
  }

  #fanOut(
    event: WaitingEvent,
    destinations: readonly ClaimedDestination[],
    fields: Fields | undefined,
  ): FannedOut {
    const deliveries: DeliveryRow[] = []
    const publications: PublicationRow[] = []
    const kept: Kept[] = []
    for (const destination of destinations) {
      const { delivery, publication } = makeDelivery({ event, destination, fields, now: this.#taken.now })
      const place = this.#keepPlace(event, destination, delivery)
      if (place) kept.push(place)
      deliveries.push(delivery)
      if (publication) publications.push(publication)
    }
    const first = this.#firstOf(event, { deliveries, publications, kept })
    for (const one of kept) {
      one.sending.first = first ?? undefined
      this.#kept.push(one)
    }
    return { event, first, deliveries, publications }
  }

  /** Where all of it is sent at once, it is sent first; but publications are written before anyone is told. */
  #firstOf(event: WaitingEvent, { deliveries, publications, kept }: Made): First | null {
    if (kept.length === 0 || kept.length < deliveries.length || publications.length > 0) return null
    const { project_id, id: event_id, created_at } = event
    return new First({ project_id, event_id, created_at, claim_id: this.#claimId }, deliveries)
  }

  #keepPlace(event: WaitingEvent, destination: ClaimedDestination, delivery: DeliveryRow): Kept | undefined {
    // Held, until it is enabled.
    if (destination.active !== 1) return undefined
    const mayPass = hasData(event) && !this.#behind.has(destination.id)
    const kept =
      mayPass &&
      this.#outlet?.keep({ claimId: this.#claimId, delivery, event, destination, first: undefined })
    if (kept) {
      delivery.claim_id = this.#claimId
      delivery.next_attempt_at = this.#taken.now + LEASE_MS
      return kept
    }
    this.#behind.add(destination.id)
    this.left++
    if (hasData(event) && this.#outlet?.isQuick(destination)) this.leftToQuick++
    return undefined
  }

  /** What had to be written is. */
  begin(): void {
    if (this.#kept.length > 0) this.#outlet?.beginKept(this.#kept, { now: this.#taken.now, at: this.#at })
  }

  letGo(): void {
    this.#outlet?.letGo(this.#kept)
    this.#kept = []
  }
}

interface Made {
  readonly deliveries: readonly DeliveryRow[]
  readonly publications: readonly PublicationRow[]
  readonly kept: readonly Kept[]
}

const hasData = (event: WaitingEvent): event is WaitingEvent & { data: EventData } => event.data !== null

/** What an event tells, which only publications need. */
async function fieldsFor(reader: Reader, event: WaitingEvent): Promise<Fields | undefined> {
  const told = hasData(event) ? event : await findEvent(reader, event.project_id, event.id)
  return told && fieldsOf(told.data)
}
