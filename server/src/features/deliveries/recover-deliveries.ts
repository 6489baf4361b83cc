import { notFound } from '../../contract/problem.ts'
import type { Actor } from '../../platform/http/index.ts'
import { isoTime } from '../../platform/http/index.ts'
import { recordChange } from '../audit/index.ts'
import { requireProject } from '../projects/index.ts'
import type { DeliveryRow } from './delivery.ts'
import { type DeliveryHead, destinationsWith, findDestinationStates } from './delivery-list.store.ts'
import { listRecoverable } from './delivery-record.store.ts'
import type { DestinationState, Recoverable } from './delivery-status.ts'
import { isInProgress, ROWS_PER_TRANSACTION, reopenDeliveries } from './reopen-deliveries.ts'
import { type RecordDeps, refuseDeleted } from './retry-delivery.ts'

export interface Recovery {
  readonly projectId: string
  /** Deliveries whose last attempt failed at this time or later; epoch milliseconds. */
  readonly since: number
  readonly destination: string | undefined
  readonly include: readonly Recoverable[]
  /** Only counts the deliveries. */
  readonly dryRun: boolean
  readonly actor: Actor
}

interface Outcome {
  readonly reopened: number
  /** Number of them to disabled destinations, sent when those are enabled. */
  readonly held: number
  readonly failing_left_out: number
}

/**
 * Makes deliveries due that failed since a time, in small transactions with an audit entry each. If it is interrupted, the
 * same call continues. Deleted destinations get nothing.
 */
export async function recoverDeliveries(deps: RecordDeps, recovery: Recovery): Promise<Outcome> {
  await requireProject(deps.db, recovery.projectId)
  // Counts failing ones first: a recovered delivery that fails again is failing, and must not be counted twice.
  const left = recovery.include.includes('failing') ? 0 : await countFailing(deps, recovery)
  const failing = await recoverIncluded(deps, recovery, 'failing')
  const exhausted = await recoverIncluded(deps, recovery, 'exhausted')
  return {
    reopened: failing.reopened + exhausted.reopened,
    held: failing.held + exhausted.held,
    failing_left_out: left,
  }
}

const countFailing = async (deps: RecordDeps, recovery: Recovery): Promise<number> =>
  (await recoverIncluded(deps, { ...recovery, include: ['failing'], dryRun: true }, 'failing')).reopened

async function recoverIncluded(deps: RecordDeps, recovery: Recovery, state: Recoverable) {
  const total = { reopened: 0, held: 0 }
  if (!recovery.include.includes(state)) return total
  for (const destination of await destinationsOf(deps, recovery, state)) {
    const reopened = await recoverOne(deps, recovery, { state, destination })
    total.reopened += reopened
    if (destination.active !== 1) total.held += reopened
  }
  return total
}

async function destinationsOf(
  { db }: RecordDeps,
  { projectId, destination: id }: Recovery,
  state: Recoverable,
): Promise<DestinationState[]> {
  // Failed deliveries of a disabled destination are held, and are sent when it is enabled.
  const canFail = ({ active }: DestinationState) => state !== 'failing' || active === 1
  if (id === undefined) {
    const all = await destinationsWith(db, projectId, state)
    return all.filter((one) => one.deleted_at === null && canFail(one))
  }
  const [destination] = await findDestinationStates(db, projectId, [id])
  if (!destination) throw notFound('destination', id)
  refuseDeleted(destination, { destination_id: id })
  return [destination].filter(canFail)
}

interface OfDestination {
  readonly state: Recoverable
  readonly destination: DestinationState
}

async function recoverOne(deps: RecordDeps, recovery: Recovery, of: OfDestination): Promise<number> {
  const { projectId, since } = recovery
  const { state, destination } = of
  let reopened = 0
  let after: Pick<DeliveryRow, 'created_at' | 'id'> | undefined
  do {
    const run = { projectId, destinationId: destination.id, state, after }
    const page = await listRecoverable(deps.db, run, ROWS_PER_TRANSACTION)
    const now = await deps.db.now()
    const ids = page
      .filter((row) => (row.failed_at ?? 0) >= since && !isInProgress(row, now))
      .map(({ id }) => id)
    if (ids.length > 0)
      reopened += recovery.dryRun ? ids.length : await recoverSome(deps, recovery, { ...of, ids })
    // Continues after this delivery, so that one that fails again meanwhile is not recovered twice.
    after = page.length === ROWS_PER_TRANSACTION ? page.at(-1) : undefined
  } while (after)
  return reopened
}

/** Checked again under the lock: a delivery may have been sent meanwhile. */
const isStill: Readonly<Record<Recoverable, (row: DeliveryHead, since: number) => boolean>> = {
  exhausted: ({ status, settled_at }, since) => status === 'exhausted' && (settled_at ?? 0) >= since,
  failing: ({ status, attempts_made }) => status === 'pending' && attempts_made > 0,
}

interface Some extends OfDestination {
  readonly ids: readonly string[]
}

const recoverSome = (
  deps: RecordDeps,
  { projectId, since, actor }: Recovery,
  { state, destination, ids }: Some,
): Promise<number> =>
  deps.db.transaction(async (tx) => {
    const matches = (row: DeliveryHead) => isStill[state](row, since)
    const { after } = await reopenDeliveries(tx, { projectId, ids, matches })
    if (after.length > 0)
      await recordChange(deps, tx, {
        actor,
        action: `${destination.kind}.deliveries_recovered`,
        projectId,
        subject: { type: destination.kind, id: destination.id },
        before: null,
        after: { since: isoTime(since), state, reopened: after.length },
      })
    return after.length
  })
