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

/**
 * What is the same for all its destinations, which come one after the other: so of the last event it is kept. Ids, times and
 * kinds of ours need no escaping.
 */
function told(event: EventHead): Told {
  if (last?.event === event) return last
  const writtenAt = isoTime(event.created_at)
  const occurredAt = event.occurred_at === event.created_at ? writtenAt : isoTime(event.occurred_at)
  const about = `"entity_id":${JSON.stringify(event.entity_id)},"group_id":${JSON.stringify(event.group_id)}`
  const source = `"event_source":${JSON.stringify(eventSource(event))}`
  const json = `{"id":"${event.id}","type":"${wireOf(event.kind)}","created_at":"${occurredAt}",${about},${source}}`
  last = { event, writtenAt, json }
  return last
}

type Destination = PayloadParts['destination']

/** What a destination's payloads say of it. */
interface Said extends Pick<Destination, 'target_url' | 'event_name'> {
  /** JSON, where it has a name of its own for events. */
  readonly type: string | null
  /** JSON. */
  readonly source: string
}

/** For about as many destinations as are sent to at a time. */
const SAID_KEPT = 2_000
const saidOf = new Map<string, Said>()

/** They come with every batch, and are nearly always as they were. */
function said(destination: Destination): Said {
  const { id, kind: object, target_url, event_name } = destination
  const known = saidOf.get(id)
  if (known?.target_url === target_url && known.event_name === event_name) return known
  const made = {
    target_url,
    event_name,
    type: event_name === null ? null : JSON.stringify(event_name),
    source: JSON.stringify({ id, object, target_url }),
  }
  if (!known && saidOf.size >= SAID_KEPT) saidOf.delete(saidOf.keys().next().value!)
  saidOf.set(id, made)
  return made
}

type Payload = Pick<DeliveryRow, 'head' | 'tail'>

/** What surrounds the event's fields in the bytes that are sent; fixed here, once, for all attempts. */
export function makePayload({ deliveryId, event, destination, publication }: PayloadParts): Payload {
  const published = publication === undefined ? '' : `,"publication":${publication}`
  return surrounding(deliveryId, event, { ...said(destination), published })
}

interface Surrounding extends Pick<Said, 'type' | 'source'> {
  readonly published: string
}

function surrounding(
  deliveryId: string,
  event: EventHead,
  { type, source, published }: Surrounding,
): Payload {
  const { writtenAt, json } = told(event)
  return {
    head: `{"id":"${deliveryId}","project_id":"${event.project_id}","created_at":"${writtenAt}","type":${type ?? `"${event.kind}"`},"data":`,
    tail: `${published}},"source":${source},"event":${json}}`,
  }
}

/**
 * What is kept of one that is delivered, without a publication: most are never sent again, and what is the same in all of an
 * event's need not be stored with each. In `head` its own name for the event, or null; in `tail` what it was.
 */
export function shortened(destination: Destination): Payload {
  const { type, source } = said(destination)
  return { head: type ?? 'null', tail: source }
}

/** The same, byte for byte, as before it was shortened. A whole tail begins with a brace that closes, or a comma. */
export function whole({ id, head, tail }: Payload & { readonly id: string }, event: EventHead): Payload {
  if (!tail.startsWith('{')) return { head, tail }
  return surrounding(id, event, { type: head === 'null' ? null : head, source: tail, published: '' })
}

/** The exact bytes: the event's fields lie between head and tail, without the brace that `tail` closes. */
export const payloadOf = ({ head, tail }: Pick<DeliveryRow, 'head' | 'tail'>, data: string): string =>
  head + data.slice(0, -1) + tail

const USUAL_BYTES = 64 * 1024
const usual = Buffer.allocUnsafeSlow(USUAL_BYTES)
/** A character takes no more. */
const UTF8_MOST = 3

/** As they are sent, without making one text of the three first. To be used at once: the next ones may be in the same place. */
export function payloadBytes({ head, tail }: Pick<DeliveryRow, 'head' | 'tail'>, data: EventData): Buffer {
  const most = UTF8_MOST * (head.length + data.length + tail.length)
  const bytes = most <= USUAL_BYTES ? usual : Buffer.allocUnsafeSlow(most)
  let at = bytes.write(head, 0)
  if (typeof data === 'string') at += bytes.write(data, at)
  else {
    bytes.set(data, at)
    at += data.length
  }
  // Over the brace.
  at += bytes.write(tail, at - 1) - 1
  return bytes.subarray(0, at)
}
