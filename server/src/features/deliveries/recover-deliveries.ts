import { notFound } from '../../contract/problem.ts'
import type { Actor } from '../../platform/http/index.ts'
import { isoTime } from '../../platform/http/index.ts'
import { recordChange } from '../audit/index.ts'
import { requireProject } from '../projects/index.ts'
import type { DeliveryRow } from './delivery.ts'
import { listExhausted } from './delivery-record.store.ts'
import { destinationsWith, findDestinationStates } from './delivery-runs.store.ts'
import type { DestinationState } from './delivery-status.ts'
import { REOPENED_AT_ONCE, reopenDeliveries } from './reopen-deliveries.ts'
import { type RecordDeps, refuseDeleted } from './retry-delivery.ts'

export interface Recovery {
  readonly projectId: string
  /** Those that were given up at this time or later; epoch milliseconds. */
  readonly since: number
  readonly destination: string | undefined
  /** Only counts. */
  readonly dryRun: boolean
  readonly actor: Actor
}

interface Outcome {
  readonly reopened: number
  /** Of these, to destinations that are disabled: sent once those are enabled. */
  readonly held: number
}

/**
 * Makes everything due that was given up since a time. In small transactions, each with its note in the audit log: if
 * it breaks off half-way, the same call goes on. Whoever is deleted gets nothing.
 */
export async function recoverDeliveries(deps: RecordDeps, recovery: Recovery): Promise<Outcome> {
  const total = { reopened: 0, held: 0 }
  for (const destination of await destinationsOf(deps, recovery)) {
    const reopened = await recoverOne(deps, recovery, destination)
    total.reopened += reopened
    if (destination.active !== 1) total.held += reopened
  }
  return total
}

async function destinationsOf({ db }: RecordDeps, { projectId, destination: id }: Recovery) {
  await requireProject(db, projectId)
  if (id === undefined) {
    const all = await destinationsWith(db, projectId, 'exhausted')
    return all.filter(({ deleted_at }) => deleted_at === null)
  }
  const [destination] = await findDestinationStates(db, projectId, [id])
  if (!destination) throw notFound('destination', id)
  refuseDeleted(destination, { destination_id: id })
  return [destination]
}

async function recoverOne(
  deps: RecordDeps,
  recovery: Recovery,
  destination: DestinationState,
): Promise<number> {
  const { projectId, since } = recovery
  let reopened = 0
  let after: Pick<DeliveryRow, 'created_at' | 'id'> | undefined
  do {
    const run = { projectId, destinationId: destination.id, after }
    const page = await listExhausted(deps.db, run, REOPENED_AT_ONCE)
    const ids = page.filter(({ settled_at }) => (settled_at ?? 0) >= since).map(({ id }) => id)
    if (ids.length > 0)
      reopened += recovery.dryRun ? ids.length : await recoverSome(deps, recovery, { destination, ids })
    // Goes on behind it: what fails again meanwhile is not taken twice.
    after = page.length === REOPENED_AT_ONCE ? page.at(-1) : undefined
  } while (after)
  return reopened
}

interface Some {
  readonly destination: DestinationState
  readonly ids: readonly string[]
}

const recoverSome = (deps: RecordDeps, recovery: Recovery, { destination, ids }: Some): Promise<number> =>
  deps.db.transaction(async (tx) => {
    const { projectId, since, actor } = recovery
    const isMeant = ({ status, settled_at }: Pick<DeliveryRow, 'status' | 'settled_at'>) =>
      status === 'exhausted' && (settled_at ?? 0) >= since
    const { after } = await reopenDeliveries(tx, { projectId, ids, isMeant })
    if (after.length > 0)
      await recordChange(deps, tx, {
        actor,
        action: `${destination.kind}.deliveries_recovered`,
        projectId,
        subject: { type: destination.kind, id: destination.id },
        before: null,
        after: { since: isoTime(since), reopened: after.length },
      })
    return after.length
  })
