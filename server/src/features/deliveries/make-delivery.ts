import type { EventKind } from '../../contract/event-kinds.ts'
import { ID_PREFIX } from '../../contract/ids.ts'
import { digestOf, newTimedId, type RandomBytes } from '../../platform/secrets.ts'
import type { EventHead } from '../events/index.ts'
import { eventsOf } from '../webhooks/index.ts'
import type { DeliveryRow } from './delivery.ts'
import type { ClaimedDestination } from './exchange.ts'
import { makePayload, type PayloadParts } from './payload.ts'
import { type Fields, makePublication } from './publication.ts'
import type { LiveDestination } from './taken-events.ts'

const NOTHING: ReadonlySet<string> = new Set()

type Subscribers = (event: EventHead) => ClaimedDestination[]

let last: { live: readonly LiveDestination[]; subscribers: Subscribers } | undefined

/** Who existed when an event was written and wants its kind; disabled ones too, whose deliveries are held. */
export function subscribersIn(live: readonly LiveDestination[]): Subscribers {
  if (last?.live !== live) last = { live, subscribers: readSubscribers(live) }
  return last.subscribers
}

function readSubscribers(live: readonly LiveDestination[]): Subscribers {
  const known = live.map(({ destination, skips }) => ({
    destination,
    kinds: eventsOf(destination),
    skips: skips === '[]' ? NOTHING : new Set<string>(JSON.parse(skips)),
  }))
  const byProject = Map.groupBy(known, ({ destination }) => destination.project_id)
  return (event) =>
    (byProject.get(event.project_id) ?? [])
      .filter(
        ({ destination, kinds, skips }) =>
          kinds.includes(event.kind as EventKind) &&
          !skips.has(event.id) &&
          (destination.kind === 'webhook' || destination.campaign_id === event.campaign_id),
      )
      .map(({ destination }) => destination)
}

interface Making {
  readonly event: EventHead
  /** Of the event, for a distribution. */
  readonly fields?: Fields | undefined
  readonly destination: PayloadParts['destination']
  readonly now: number
}

/**
 * A delivery that is due. In the queue it stands by when its event was written, so that receivers get them in order. Its
 * ids and bytes follow from the event and the destination alone: should it have been sent and nobody known of it, the
 * receiver knows it again.
 */
export function makeDelivery({ event, destination, fields, now }: Making) {
  const random = fixedBytes(`${event.id}/${destination.id}`)
  const createdAt = event.created_at
  const id = newTimedId(random, ID_PREFIX.delivery, createdAt)
  const publication =
    destination.kind === 'distribution' && fields
      ? makePublication({ random }, { event, fields, distributionId: destination.id, now: createdAt })
      : undefined
  const delivery: DeliveryRow = {
    project_id: event.project_id,
    id,
    event_id: event.id,
    destination_id: destination.id,
    status: 'pending',
    ...makePayload({ deliveryId: id, event, destination, publication: publication?.data }),
    attempts_made: 0,
    slot: 0,
    first_attempt_at: null,
    next_attempt_at: Math.min(createdAt, now),
    claim_id: null,
    created_at: now,
    settled_at: null,
    first_attempt: null,
  }
  return { delivery, publication }
}

const DIGEST_BYTES = 32

/** Not random: the same for the same seed, in the order in which they are drawn. */
export function fixedBytes(seed: string): RandomBytes {
  let drawn = 0
  return (size) => {
    if (size > DIGEST_BYTES) throw new RangeError(`no more than ${DIGEST_BYTES} bytes at a time`)
    return digestOf(`${seed}/${drawn++}`).subarray(0, size)
  }
}
