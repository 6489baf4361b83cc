import { EVENT_KIND_VALUES, type EventKind, TEST_EVENT } from '../../contract/event-kinds.ts'
import { ID_PREFIX } from '../../contract/ids.ts'
import { notFound, Problem } from '../../contract/problem.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Vault } from '../../platform/encryption.ts'
import { newId } from '../../platform/secrets.ts'
import { type EventRow, findEvent } from '../events/index.ts'
import { requireProject } from '../projects/index.ts'
import { fieldsOf } from '../publications/index.ts'
import { type DestinationRow, eventsOf, findDestination, openSecrets } from '../webhooks/index.ts'
import type { DeliveryRow } from './delivery.ts'
import { findDelivery, listDeliveriesOfEvent } from './delivery-record.store.ts'
import { deterministicBytes, makeDelivery } from './make-delivery.ts'
import { payloadOf } from './payload.ts'
import { ownHeaders } from './send-delivery.ts'

interface Deps {
  readonly db: Database
  readonly vault: Vault
}

export interface SigningRequest {
  readonly projectId: string
  readonly eventId: string
  /** A destination, or a secret for a project that has none yet. */
  readonly as: { readonly destinationId: string } | { readonly secret: string; readonly targetUrl: string }
}

export interface SignedEvent {
  readonly headers: Readonly<Record<string, string>>
  /** Exact text that is signed. */
  readonly body: string
}

/**
 * Signs an event as it would be sent now, without sending it: for receivers that Jeton cannot reach, such as one on a
 * developer's machine. They verify it with the real secret, which does not leave Jeton. Custom headers of a distribution
 * are omitted, because their values are never shown.
 */
export async function signEvent(
  deps: Deps,
  { projectId, eventId, as }: SigningRequest,
): Promise<SignedEvent> {
  await requireProject(deps.db, projectId)
  const event = await findEvent(deps.db, projectId, eventId)
  if (!event) throw notFound('event', eventId)
  const nowMs = await deps.db.now()
  if ('secret' in as) {
    const delivery = previewDelivery(event, placeholderWebhook(event, as.targetUrl))
    return signed([as.secret], { event, nowMs, delivery })
  }
  const destination = await requireDestination(deps.db, projectId, as.destinationId)
  const delivery = (await deliveryTo(deps.db, event, destination)) ?? previewDelivery(event, destination)
  return signed(openSecrets(deps.vault, destination, nowMs), { event, nowMs, delivery })
}

interface Signing {
  readonly event: EventRow
  readonly delivery: DeliveryRow
  readonly nowMs: number
}

function signed(secrets: readonly string[], { event, delivery, nowMs }: Signing): SignedEvent {
  const body = payloadOf(delivery, event.data)
  const { kind, traceparent } = event
  const send = { deliveryId: delivery.id, kind, attempt: delivery.attempts_made + 1, nowMs, traceparent }
  return { headers: ownHeaders(send, secrets, Buffer.from(body)), body }
}

async function requireDestination(db: Database, projectId: string, id: string): Promise<DestinationRow> {
  const kind = id.startsWith(ID_PREFIX.distribution) ? 'distribution' : 'webhook'
  const found = await findDestination(db, { projectId, kind, id })
  if (!found) throw notFound(kind, id)
  return found
}

/** Finds the real delivery, so that the same id and bytes are used. */
async function deliveryTo(
  db: Database,
  event: EventRow,
  { id }: DestinationRow,
): Promise<DeliveryRow | undefined> {
  const heads = await listDeliveriesOfEvent(db, event.project_id, event.id)
  const head = heads.find(({ destination_id }) => destination_id === id)
  return head && findDelivery(db, event.project_id, head.id)
}

type PreviewTarget = Pick<
  DestinationRow,
  'id' | 'kind' | 'campaign_id' | 'event_name' | 'events' | 'target_url'
>

/** For a destination that was created after the event, or for an event that is still in the outbox. */
function previewDelivery(event: EventRow, destination: PreviewTarget): DeliveryRow {
  requireMatching(event, destination)
  const fields = destination.kind === 'distribution' ? fieldsOf(event.data) : undefined
  return makeDelivery({ event, destination, fields, now: event.created_at }).delivery
}

/** Refuses events that the destination would never get, because a test with them would be misleading. */
function requireMatching(event: EventRow, destination: PreviewTarget): void {
  const wrongKind = event.kind === TEST_EVENT || !eventsOf(destination).includes(event.kind as EventKind)
  const wrongCampaign = destination.kind === 'distribution' && destination.campaign_id !== event.campaign_id
  if (!wrongKind && !wrongCampaign) return
  const why = wrongKind ? `it does not get ${event.kind}` : 'it is for another campaign'
  throw new Problem('invalid_state', {
    message: `The event ${event.id} is not sent to ${destination.id}: ${why}.`,
    details: `Use a destination that gets it. Its deliveries: jeton delivery list --event ${event.id}`,
    resource: { type: destination.kind, id: destination.id },
  })
}

/** A webhook that is not stored, for a project without one. */
const placeholderWebhook = (event: EventRow, targetUrl: string): PreviewTarget => ({
  id: newId(deterministicBytes(event.project_id), ID_PREFIX.webhook),
  kind: 'webhook',
  campaign_id: null,
  event_name: null,
  events: JSON.stringify(EVENT_KIND_VALUES),
  target_url: targetUrl,
})
