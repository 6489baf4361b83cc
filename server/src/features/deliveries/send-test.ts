import { TEST_EVENT } from '../../contract/event-kinds.ts'
import { notFound, Problem } from '../../contract/problem.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Transaction } from '../../platform/database/index.ts'
import type { Actor } from '../../platform/http/index.ts'
import { recordChange } from '../audit/index.ts'
import { type EventRow, insertEvent, newEventId } from '../events/index.ts'
import { requireProject } from '../projects/index.ts'
import { type DestinationKind, type DestinationRow, findDestination } from '../webhooks/index.ts'
import { DELIVERIES_DUE, insertDelivery } from './delivery.store.ts'
import type { DeliveryRow } from './delivery.ts'
import { findDelivery, listAttempts } from './delivery-record.store.ts'
import { attemptView, listedView } from './delivery-view.ts'
import { listed } from './list-deliveries.ts'
import { makeDelivery } from './make-delivery.ts'
import type { RecordDeps } from './retry-delivery.ts'
import { waitForAttempt } from './wait-for-attempt.ts'

export interface TestRequest {
  readonly projectId: string
  readonly kind: DestinationKind
  readonly id: string
  readonly actor: Actor
  readonly traceparent: string | null
  /** Maximum time to wait for the attempt. */
  readonly waitMs: number
  /** Ends the wait early. */
  readonly signal: AbortSignal
}

/**
 * Sends a test event to one destination. It cannot be mistaken for a real event but is delivered like one. Returns the
 * attempt, or null if none was made in time.
 */
export async function sendTest(deps: RecordDeps & { readonly clock: Clock }, request: TestRequest) {
  const { projectId, waitMs, signal } = request
  const made = await deps.db.transaction((tx) => sendTestIn(deps, tx, request))
  await waitForAttempt(deps, { projectId, deliveryId: made.id, waitMs, signal })
  const row = (await findDelivery(deps.db, projectId, made.id)) ?? made
  const [attempt] = await listAttempts(deps.db, row)
  return {
    ...listedView(await listed(deps.db, row)),
    attempt: attempt ? attemptView(attempt) : null,
  }
}

async function sendTestIn(
  deps: RecordDeps,
  tx: Transaction,
  { projectId, kind, id, actor, traceparent }: TestRequest,
): Promise<DeliveryRow> {
  await requireProject(tx, projectId)
  const destination = await findDestination(tx, { projectId, kind, id })
  if (!destination) throw notFound(kind, id)
  if (destination.active !== 1) throw isDisabled(destination)
  const now = await tx.now()
  const { requestId } = actor
  const event = testEvent({ id: newEventId(deps.random, now), destination, requestId, traceparent, now })
  // Ignores the custom event name of a distribution, so that a test is identified as a test.
  const { delivery } = makeDelivery({ event, destination: { ...destination, event_name: null }, now })
  await insertEvent(tx, event)
  await insertDelivery(tx, delivery)
  await tx.notify(DELIVERIES_DUE)
  await recordChange(deps, tx, {
    actor,
    action: `${kind}.tested`,
    projectId,
    subject: { type: kind, id },
    before: null,
    after: { event_id: event.id, delivery_id: delivery.id },
  })
  return delivery
}

interface TestEventParts {
  readonly id: string
  readonly destination: DestinationRow
  readonly requestId: string | null
  readonly traceparent: string | null
  readonly now: number
}

/** Not added to the outbox: it goes to the requested destination only. */
const testEvent = ({ id, destination, requestId, traceparent, now }: TestEventParts): EventRow => ({
  project_id: destination.project_id,
  id,
  kind: TEST_EVENT,
  version: TEST_VERSION,
  entity_id: destination.id,
  campaign_id: null,
  group_id: requestId,
  channel: 'INTERNAL',
  key_name: null,
  key_app_id: null,
  traceparent,
  data: JSON.stringify({ object: 'test', message: 'Test event, sent by an operator.' }),
  occurred_at: now,
  created_at: now,
})

/** A test event has no schema of its own. It carries the version of all other events. */
const TEST_VERSION = '2024-01-01'

const isDisabled = ({ id, kind, disabled_reason }: DestinationRow): Problem =>
  new Problem('invalid_state', {
    message: `The ${kind} ${id} is disabled (${disabled_reason ?? 'no reason recorded'}), so a test would be held.`,
    details: `Enable it first: jeton ${kind} enable ${id}`,
    resource: { type: kind, id },
  })
