import { notFound } from '../../contract/problem.ts'
import type { Transaction } from '../../platform/database/index.ts'
import type { Actor } from '../../platform/http/index.ts'
import { recordChange } from '../audit/index.ts'
import { requireProject } from '../projects/index.ts'
import type { DestinationDeps } from './create-destination.ts'
import {
  type DestinationKind,
  type DestinationRow,
  lockDestination,
  updateDestinationRow,
} from './destination.store.ts'
import { destinationView } from './destination.ts'

export interface DestinationRequest {
  readonly projectId: string
  readonly kind: DestinationKind
  readonly id: string
  readonly actor: Actor
}

interface DestinationChange {
  /** Recorded in the audit log, for example `secret_rotated`. */
  readonly action: string
  /** Returns the columns to change, or null to change nothing. */
  apply(row: DestinationRow, now: number, tx: Transaction): Difference | Promise<Difference>
}

type Difference = Partial<DestinationRow> | null

/** Locks a destination and changes it. The audit entry and the notification are in the same transaction. */
export const changeDestination = (
  deps: Pick<DestinationDeps, 'db' | 'random'>,
  request: DestinationRequest,
  change: DestinationChange,
): Promise<DestinationRow> => deps.db.transaction((tx) => changeIn(deps, tx, request, change))

async function changeIn(
  deps: Pick<DestinationDeps, 'random'>,
  tx: Transaction,
  request: DestinationRequest,
  change: DestinationChange,
): Promise<DestinationRow> {
  const { kind, id, projectId } = request
  await requireProject(tx, projectId)
  const before = await lockDestination(tx, request)
  if (!before) throw notFound(kind, id)
  const now = await tx.now()
  const difference = await change.apply(before, now, tx)
  if (difference === null) return before
  const after = { ...before, ...difference, updated_at: now }
  await updateDestinationRow(tx, before, { ...difference, updated_at: now })
  await recordChange(deps, tx, {
    actor: request.actor,
    action: `${kind}.${change.action}`,
    projectId,
    subject: { type: kind, id },
    before: destinationView(before),
    after: after.deleted_at === null ? destinationView(after) : null,
  })
  return after
}
