import { notFound, Problem } from '../../contract/problem.ts'
import type { Actor } from '../../platform/http/index.ts'
import { recordChange } from '../audit/index.ts'
import { findEvent } from '../events/index.ts'
import { requireProject } from '../projects/index.ts'
import type { DeliveryHead } from './delivery-list.store.ts'
import { listDeliveriesOfEvent } from './delivery-record.store.ts'
import type { DestinationState } from './delivery-status.ts'
import { findDestinationStates } from './destination-state.store.ts'
import { ROWS_PER_TRANSACTION, reopenDeliveries } from './reopen-deliveries.ts'
import { type RecordDeps, refuseDeleted } from './retry-delivery.ts'

export interface Replay {
  readonly projectId: string
  readonly eventId: string
  /** Only this destination; all destinations of the event if undefined. */
  readonly destination: string | undefined
  readonly actor: Actor
}

interface Outcome {
  readonly reopened: number
  /** Number of them to disabled destinations, sent when those are enabled. */
  readonly held: number
  /** Number of deliveries that were already due or being sent. */
  readonly unchanged: number
}

/**
 * Sends an event again to its destinations, whether or not it was delivered, with the same ids and bytes, so that receivers
 * recognise it. Deliveries that are already due or in flight stay unchanged.
 */
export async function replayEvent(deps: RecordDeps, replay: Replay): Promise<Outcome> {
  const rows = await deliveriesOf(deps, replay)
  const destinations = await liveDestinationsOf(deps, replay, rows)
  const ids = rows.filter((row) => destinations.has(row.destination_id)).map(({ id }) => id)
  const total = { reopened: 0, held: 0 }
  for (let i = 0; i < ids.length; i += ROWS_PER_TRANSACTION) {
    const some = await replaySome(deps, replay, { ids: ids.slice(i, i + ROWS_PER_TRANSACTION), destinations })
    total.reopened += some.reopened
    total.held += some.held
  }
  return { ...total, unchanged: ids.length - total.reopened }
}

async function deliveriesOf({ db }: RecordDeps, { projectId, eventId, destination }: Replay) {
  await requireProject(db, projectId)
  if (!(await findEvent(db, projectId, eventId))) throw notFound('event', eventId)
  const rows = await listDeliveriesOfEvent(db, projectId, eventId)
  if (destination === undefined) return rows
  const named = rows.filter((row) => row.destination_id === destination)
  if (named.length === 0) throw notSentThere(eventId, destination)
  return named
}

async function liveDestinationsOf(
  { db }: RecordDeps,
  { projectId, destination }: Replay,
  rows: readonly DeliveryHead[],
): Promise<Map<string, DestinationState>> {
  const ids = rows.map((row) => row.destination_id)
  const states = await findDestinationStates(db, projectId, ids)
  if (destination !== undefined) refuseDeleted(states[0], { destination_id: destination })
  return new Map(states.filter(({ deleted_at }) => deleted_at === null).map((one) => [one.id, one]))
}

const notSentThere = (eventId: string, destination: string): Problem =>
  new Problem('not_found', {
    message: `The event ${eventId} has no delivery to ${JSON.stringify(destination.slice(0, 80))}.`,
    details: `An event is sent to the destinations that existed when it was written. See: jeton delivery list --event ${eventId}`,
    resource: { type: 'destination', id: destination.slice(0, 80) },
  })

interface Some {
  readonly ids: readonly string[]
  readonly destinations: ReadonlyMap<string, DestinationState>
}

const replaySome = (deps: RecordDeps, replay: Replay, { ids, destinations }: Some) =>
  deps.db.transaction(async (tx) => {
    const { projectId, eventId, destination, actor } = replay
    const { after } = await reopenDeliveries(tx, { projectId, ids, matches: () => true })
    const held = after.filter((row) => destinations.get(row.destination_id)?.active !== 1).length
    if (after.length > 0)
      await recordChange(deps, tx, {
        actor,
        action: 'event.replayed',
        projectId,
        subject: { type: 'event', id: eventId },
        before: null,
        after: { destination: destination ?? null, reopened: after.length, held },
      })
    return { reopened: after.length, held }
  })
