import { TEST_EVENT } from '../../contract/event-kinds.ts'
import { notFound, Problem } from '../../contract/problem.ts'
import type { Transaction } from '../../platform/database/index.ts'
import type { Actor } from '../../platform/http/index.ts'
import { recordChange } from '../audit/index.ts'
import { type EventRow, insertEvent, newEventId } from '../events/index.ts'
import { requireProject } from '../projects/index.ts'
import { type DestinationKind, type DestinationRow, findDestination } from '../webhooks/index.ts'
import { DELIVERIES_DUE, insertDelivery } from './delivery.store.ts'
import { deliveryView } from './delivery-view.ts'
import { makeDelivery } from './make-delivery.ts'
import type { RecordDeps } from './retry-delivery.ts'

export interface TestRequest {
  readonly projectId: string
  readonly kind: DestinationKind
  readonly id: string
  readonly actor: Actor
}

/** Sends an event that nobody can take for a real one, to one destination alone; the rest is as for any delivery. */
export const sendTest = (deps: RecordDeps, request: TestRequest) =>
  deps.db.transaction((tx) => sendTestIn(deps, tx, request))

async function sendTestIn(deps: RecordDeps, tx: Transaction, { projectId, kind, id, actor }: TestRequest) {
  await requireProject(tx, projectId)
  const destination = await findDestination(tx, { projectId, kind, id })
  if (!destination) throw notFound(kind, id)
  if (destination.active !== 1) throw isDisabled(destination)
  const now = await tx.now()
  const event = testEvent({ id: newEventId(deps.random, now), destination, requestId: actor.requestId, now })
  // A distribution's own name for events is left out: a test is called a test.
  const { delivery } = makeDelivery({ event, destination: { ...destination, event_name: null }, now })
  await insertEvent(tx, event)
  await insertDelivery(tx, delivery)
  await tx.wake(DELIVERIES_DUE)
  await recordChange(deps, tx, {
    actor,
    action: `${kind}.tested`,
    projectId,
    subject: { type: kind, id },
    before: null,
    after: { event_id: event.id, delivery_id: delivery.id },
  })
  return deliveryView(delivery, destination)
}

interface TestEventParts {
  readonly id: string
  readonly destination: DestinationRow
  readonly requestId: string | null
  readonly now: number
}

/** It waits for no fan-out: it goes where it was asked for, whatever others subscribe to. */
const testEvent = ({ id, destination, requestId, now }: TestEventParts): EventRow => ({
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
  data: JSON.stringify({ object: 'test', message: 'A test, sent by an operator. Nothing has happened.' }),
  occurred_at: now,
  created_at: now,
})

/** Its fields follow no specification; receivers are told the one that all others follow. */
const TEST_VERSION = '2024-01-01'

const isDisabled = ({ id, kind, disabled_reason }: DestinationRow): Problem =>
  new Problem('invalid_state', {
    message: `The ${kind} ${id} is disabled (${disabled_reason ?? 'no reason is on record'}), so a test would be held.`,
    details: `Enable it first: jeton ${kind} enable ${id}`,
    resource: { type: kind, id },
  })
