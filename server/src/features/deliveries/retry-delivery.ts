import { notFound, Problem } from '../../contract/problem.ts'
import type { Database, Transaction } from '../../platform/database/index.ts'
import type { Actor } from '../../platform/http/index.ts'
import type { RandomBytes } from '../../platform/secrets.ts'
import { recordChange } from '../audit/index.ts'
import { requireProject } from '../projects/index.ts'
import type { DeliveryHead } from './delivery-list.store.ts'
import { findDelivery } from './delivery-record.store.ts'
import type { DestinationState } from './delivery-status.ts'
import { deliveryView, listedView } from './delivery-view.ts'
import { findDestinationStates } from './destination-state.store.ts'
import { listed } from './list-deliveries.ts'
import { reopenDeliveries } from './reopen-deliveries.ts'

export interface RecordDeps {
  readonly db: Database
  readonly random: RandomBytes
}

export interface DeliveryRequest {
  readonly projectId: string
  readonly id: string
  readonly actor: Actor
}

/** Makes an undelivered delivery due now. Changes nothing while it is in progress. */
export const retryDelivery = (deps: RecordDeps, request: DeliveryRequest) =>
  deps.db.transaction((tx) => retryIn(deps, tx, request))

async function retryIn(deps: RecordDeps, tx: Transaction, { projectId, id, actor }: DeliveryRequest) {
  await requireProject(tx, projectId)
  const found = await findDelivery(tx, projectId, id)
  if (!found) throw notFound('delivery', id)
  const [destination] = await findDestinationStates(tx, projectId, [found.destination_id])
  refuseDeleted(destination, found)
  const { before, after, unchanged } = await reopenDeliveries(tx, {
    projectId,
    ids: [id],
    matches: ({ status }) => status !== 'delivered',
  })
  const [row] = [...after, ...unchanged]
  if (!row) throw isDelivered(found)
  if (before[0])
    await recordChange(deps, tx, {
      actor,
      action: 'delivery.retried',
      projectId,
      subject: { type: 'delivery', id },
      before: deliveryView(before[0], destination),
      after: deliveryView(row, destination),
    })
  return listedView(await listed(tx, row))
}

type Named = Pick<DeliveryHead, 'id' | 'event_id' | 'destination_id'>

export function refuseDeleted(
  destination: DestinationState | undefined,
  { destination_id: id }: Pick<Named, 'destination_id'>,
): asserts destination is DestinationState {
  if (destination && destination.deleted_at === null) return
  const type = destination?.kind ?? 'webhook'
  throw new Problem('invalid_state', {
    message: `The ${type} ${id} is deleted, so nothing is sent to it.`,
    details: `Create a new one. It gets all later events.`,
    resource: { type, id },
  })
}

const isDelivered = ({ id, event_id, destination_id }: Named): Problem =>
  new Problem('invalid_state', {
    message: `The delivery ${id} is already delivered.`,
    details: `To send it again, replay its event: jeton event replay ${event_id} --destination ${destination_id}`,
    resource: { type: 'delivery', id },
  })
