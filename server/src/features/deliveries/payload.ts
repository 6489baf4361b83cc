import { wireOf } from '../../contract/event-kinds.ts'
import { isoTime } from '../../platform/http/index.ts'
import { type EventData, type EventHead, eventSource } from '../events/index.ts'
import type { DestinationRow } from '../webhooks/index.ts'
import type { DeliveryRow } from './delivery.ts'

export interface PayloadParts {
  readonly deliveryId: string
  readonly event: EventHead
  readonly destination: Pick<DestinationRow, 'id' | 'kind' | 'target_url' | 'event_name'>
  /** JSON, for distributions. */
  readonly publication?: string | undefined
}

interface Told {
  readonly event: EventHead
  readonly writtenAt: string
  readonly json: string
}

let last: Told | undefined

/** What is the same for all its destinations, which come one after the other: so of the last event it is kept. */
function told(event: EventHead): Told {
  if (last?.event === event) return last
  const writtenAt = isoTime(event.created_at)
  const fields = {
    id: event.id,
    type: wireOf(event.kind),
    created_at: event.occurred_at === event.created_at ? writtenAt : isoTime(event.occurred_at),
    entity_id: event.entity_id,
    group_id: event.group_id,
    event_source: eventSource(event),
  }
  last = { event, writtenAt, json: JSON.stringify(fields) }
  return last
}

/** What surrounds the event's fields in the bytes that are sent; fixed here, once, for all attempts. */
export function makePayload(parts: PayloadParts): Pick<DeliveryRow, 'head' | 'tail'> {
  const { deliveryId, event, destination, publication } = parts
  const { writtenAt, json } = told(event)
  const before = {
    id: deliveryId,
    project_id: event.project_id,
    created_at: writtenAt,
    type: destination.event_name ?? event.kind,
  }
  const source = { id: destination.id, object: destination.kind, target_url: destination.target_url }
  const published = publication === undefined ? '' : `,"publication":${publication}`
  return {
    head: `${JSON.stringify(before).slice(0, -1)},"data":`,
    tail: `${published}},"source":${JSON.stringify(source)},"event":${json}}`,
  }
}

/** The exact bytes: the event's fields lie between head and tail, without the brace that `tail` closes. */
export const payloadOf = ({ head, tail }: Pick<DeliveryRow, 'head' | 'tail'>, data: string): string =>
  head + data.slice(0, -1) + tail

/** As they are sent, without making one text of the three first. */
export function payloadBytes({ head, tail }: Pick<DeliveryRow, 'head' | 'tail'>, data: EventData): Buffer {
  const dataLength = typeof data === 'string' ? Buffer.byteLength(data) : data.length
  const bytes = Buffer.allocUnsafe(Buffer.byteLength(head) + dataLength - 1 + Buffer.byteLength(tail))
  const from = bytes.write(head)
  if (typeof data === 'string') bytes.write(data, from)
  else bytes.set(data, from)
  // Over the brace.
  bytes.write(tail, from + dataLength - 1)
  return bytes
}
