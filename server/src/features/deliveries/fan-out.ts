import type { EventKind } from '../../contract/event-kinds.ts'
import type { EventHead, EventRow } from '../events/index.ts'
import { type Fields, fieldsOf, type PublicationRow } from '../publications/index.ts'
import { type DestinationRow, eventsOf } from '../webhooks/index.ts'
import type { DeliveryRow } from './delivery.ts'
import { LEASE_MS, TARGET_COLUMNS, type Target } from './delivery-queue.ts'
import type { Capacities } from './destination-limits.ts'
import { makeDelivery } from './make-delivery.ts'
import type { ClaimedDelivery } from './send-buffer.ts'

/** Limits of one transaction after its first event, because SQLite has one writer. */
export const MAX_DELIVERIES_PER_BATCH = 500
const MAX_BYTES_PER_BATCH = 8 * 1024 * 1024
/** Deliveries of a longer event are claimed from the queue, where fewer of them are in memory at once. */
const MAX_CLAIMED_DATA_LENGTH = 64 * 1024

/** `skips` lists the events that were written before the destination was created. */
export const SUBSCRIBER_COLUMNS = [...TARGET_COLUMNS, 'skips'] as const
export type Subscriber = Readonly<Pick<DestinationRow, (typeof SUBSCRIBER_COLUMNS)[number]>>

/** Events of the outbox, oldest first, with everything that is required to create their deliveries. */
export interface OutboxBatch {
  /** The store's time. */
  readonly now: number
  readonly events: readonly EventRow[]
  /** Destinations of their projects that are not deleted. */
  readonly destinations: readonly Subscriber[]
  /** Ids of the destinations that have due deliveries in the store. */
  readonly withBacklog: readonly string[]
  /** True if a limit ended the batch, so that the outbox may have more. */
  readonly isFull: boolean
}

export interface FanOutRequest {
  readonly batch: OutboxBatch
  readonly capacities: Capacities
  readonly claimId: string
  /** Monotonic time before the store was asked for the batch. */
  readonly claimedAt: number
}

export interface FannedOut {
  readonly events: readonly EventRow[]
  readonly deliveries: readonly DeliveryRow[]
  readonly publications: readonly PublicationRow[]
  /** Those of the deliveries that this process sends right after the commit. */
  readonly claimed: readonly ClaimedDelivery[]
  /** True if a healthy destination got a delivery that must wait in the store. */
  readonly leavesHealthyBacklog: boolean
  /** True if the outbox may have more events. */
  readonly hasMore: boolean
}

/**
 * Creates one delivery per event and destination, as a pure function. A delivery is claimed if its destination is active,
 * has no due backlog in the store or earlier in this batch, and has capacity. Otherwise it is pending and due.
 */
export function fanOut({ batch, capacities, claimId, claimedAt }: FanOutRequest): FannedOut {
  const { now } = batch
  const destinationsFor = subscriptions(batch)
  const budget = new CapacityBudget(capacities)
  const withBacklog = new Set(batch.withBacklog)
  const [events, deliveries, publications]: [EventRow[], DeliveryRow[], PublicationRow[]] = [[], [], []]
  const claimed: ClaimedDelivery[] = []
  let [bytes, leavesHealthyBacklog] = [0, false]

  function claim(event: EventRow, target: Target, delivery: DeliveryRow): void {
    if (target.active !== 1) return
    const isShort = event.data.length <= MAX_CLAIMED_DATA_LENGTH
    if (isShort && !withBacklog.has(target.id) && budget.take(target.id)) {
      delivery.claim_id = claimId
      delivery.next_attempt_at = now + LEASE_MS
      claimed.push({ claimId, claimedAt, delivery, event, target })
    } else {
      withBacklog.add(target.id)
      if (capacities.isHealthy(target.id)) leavesHealthyBacklog = true
    }
  }

  for (const event of batch.events) {
    if (deliveries.length >= MAX_DELIVERIES_PER_BATCH || bytes >= MAX_BYTES_PER_BATCH) break
    const targets = destinationsFor(event)
    const fields = publicationFields(event, targets)
    for (const destination of targets) {
      const { delivery, publication } = makeDelivery({ event, destination, fields, now })
      claim(event, destination, delivery)
      deliveries.push(delivery)
      if (publication) publications.push(publication)
      bytes += delivery.tail.length
    }
    events.push(event)
  }
  const hasMore = batch.isFull || events.length < batch.events.length
  return { events, deliveries, publications, claimed, leavesHealthyBacklog, hasMore }
}

const publicationFields = (event: EventRow, targets: readonly Target[]): Fields | undefined =>
  targets.some(({ kind }) => kind === 'distribution') ? fieldsOf(event.data) : undefined

/** Destinations that existed when the event was written and subscribe to its kind, including disabled ones. */
function subscriptions({ destinations }: OutboxBatch): (event: EventHead) => Target[] {
  const known = destinations.map((destination) => ({
    destination,
    kinds: eventsOf(destination),
    eventsBefore: new Set<string>(JSON.parse(destination.skips)),
  }))
  const byProject = Map.groupBy(known, ({ destination }) => destination.project_id)
  return (event) =>
    (byProject.get(event.project_id) ?? [])
      .filter(
        ({ destination, kinds, eventsBefore }) =>
          kinds.includes(event.kind as EventKind) &&
          !eventsBefore.has(event.id) &&
          (destination.kind === 'webhook' || destination.campaign_id === event.campaign_id),
      )
      .map(({ destination }) => destination)
}

/** Remaining capacities while a batch is created. */
class CapacityBudget {
  readonly #capacities: Capacities
  readonly #taken = new Map<string, number>()
  #total: number

  constructor(capacities: Capacities) {
    this.#capacities = capacities
    this.#total = capacities.total
  }

  take(id: string): boolean {
    const taken = this.#taken.get(id) ?? 0
    const capacity = this.#capacities.byDestination[id] ?? this.#capacities.default
    if (this.#total <= 0 || taken >= capacity) return false
    this.#taken.set(id, taken + 1)
    this.#total--
    return true
  }
}
