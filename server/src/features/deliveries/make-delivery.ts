import { ID_PREFIX } from '../../contract/ids.ts'
import { digestOf, newTimedId, type RandomBytes } from '../../platform/secrets.ts'
import type { EventHead } from '../events/index.ts'
import { type Fields, makePublication, type PublicationRow } from '../publications/index.ts'
import type { DeliveryRow } from './delivery.ts'
import { makePayload, type PayloadParts } from './payload.ts'

interface DeliveryParts {
  readonly event: EventHead
  /** Event fields, for a distribution. */
  readonly fields?: Fields | undefined
  readonly destination: PayloadParts['destination']
  readonly now: number
}

export interface MadeDelivery {
  readonly delivery: DeliveryRow
  readonly publication: PublicationRow | undefined
}

/**
 * Creates a delivery that is due. The queue is ordered by the time of the events. Id and bytes follow from event and
 * destination alone: a delivery that was sent but lost before it was stored is created again with the same id.
 */
export function makeDelivery({ event, destination, fields, now }: DeliveryParts): MadeDelivery {
  const random = deterministicBytes(`${event.id}/${destination.id}`)
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
    last_status: null,
    last_error: null,
  }
  return { delivery, publication }
}

const DIGEST_BYTES = 32

/** Not random: returns the same bytes for the same seed, in the order in which they are drawn. */
export function deterministicBytes(seed: string): RandomBytes {
  let drawn = 0
  return (size) => {
    if (size > DIGEST_BYTES) throw new RangeError(`no more than ${DIGEST_BYTES} bytes at a time`)
    return digestOf(`${seed}/${drawn++}`).subarray(0, size)
  }
}
