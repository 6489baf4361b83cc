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

/** Creates the text before and after the event's data, once for all attempts. Our ids, times and kinds need no escaping. */
export function makePayload({ deliveryId, event, destination, publication }: PayloadParts): Payload {
  const { id, kind: object, target_url, event_name } = destination
  const published = publication === undefined ? '' : `,"publication":${publication}`
  const source = JSON.stringify({ id, object, target_url })
  const about = `"entity_id":${JSON.stringify(event.entity_id)},"group_id":${JSON.stringify(event.group_id)}`
  const origin = `"event_source":${JSON.stringify(eventSource(event))}`
  const eventJson = `{"id":"${event.id}","type":"${wireOf(event.kind)}","created_at":"${isoTime(event.occurred_at)}",${about},${origin}}`
  return {
    head: `{"id":"${deliveryId}","project_id":"${event.project_id}","created_at":"${isoTime(event.created_at)}","type":${JSON.stringify(event_name ?? event.kind)},"data":`,
    tail: `${published}},"source":${source},"event":${eventJson}}`,
  }
}

/** Returns the exact text that is sent: prefix, event data without its closing brace, suffix. */
export const payloadOf = ({ head, tail }: Payload, data: string): string => head + data.slice(0, -1) + tail

export const payloadBody = (payload: Payload, data: string): Buffer => Buffer.from(payloadOf(payload, data))
