import { wireOf } from '../../contract/event-kinds.ts'
import { isoTime } from '../../platform/http/index.ts'
import { type EventHead, eventSource } from '../events/index.ts'
import type { DestinationRow } from '../webhooks/index.ts'
import type { DeliveryRow } from './delivery.ts'

export interface PayloadParts {
  readonly deliveryId: string
  readonly event: EventHead
  readonly destination: Pick<DestinationRow, 'id' | 'kind' | 'target_url' | 'event_name'>
  /** JSON, for distributions. */
  readonly publication?: string | undefined
}

type Payload = Pick<DeliveryRow, 'head' | 'tail'>

/** Makes the prefix and suffix around the event's data, once for all attempts. */
export function makePayload({ deliveryId, event, destination, publication }: PayloadParts): Payload {
  const { id, kind: object, target_url, event_name } = destination
  const type = event_name === null ? null : JSON.stringify(event_name)
  return envelope(deliveryId, event, {
    type,
    source: JSON.stringify({ id, object, target_url }),
    publication,
  })
}

interface EnvelopeParts {
  /** JSON; null for the kind of the event. */
  readonly type: string | null
  /** JSON. */
  readonly source: string
  readonly publication?: string | undefined
}

/** Our own ids, times and kinds require no escaping. */
function envelope(deliveryId: string, event: EventHead, parts: EnvelopeParts): Payload {
  const { type, source, publication } = parts
  const published = publication === undefined ? '' : `,"publication":${publication}`
  const about = `"entity_id":${JSON.stringify(event.entity_id)},"group_id":${JSON.stringify(event.group_id)}`
  const origin = `"event_source":${JSON.stringify(eventSource(event))}`
  const eventJson = `{"id":"${event.id}","type":"${wireOf(event.kind)}","created_at":"${isoTime(event.occurred_at)}",${about},${origin}}`
  return {
    head: `{"id":"${deliveryId}","project_id":"${event.project_id}","created_at":"${isoTime(event.created_at)}","type":${type ?? `"${event.kind}"`},"data":`,
    tail: `${published}},"source":${source},"event":${eventJson}}`,
  }
}

/**
 * Restores the payload of a delivery in the short form that earlier versions stored: `head` is its own event name or
 * null, `tail` its source. A whole tail begins with a closing brace or a comma.
 */
export function expandShortPayload(
  { id, head, tail }: Payload & { readonly id: string },
  event: EventHead,
): Payload {
  if (!tail.startsWith('{')) return { head, tail }
  return envelope(id, event, { type: head === 'null' ? null : head, source: tail })
}

/** The exact text that is sent: the event's data stands between prefix and suffix, without the brace that `tail` closes. */
export const payloadOf = ({ head, tail }: Payload, data: string): string => head + data.slice(0, -1) + tail

export const payloadBody = (payload: Payload, data: string): Buffer => Buffer.from(payloadOf(payload, data))
