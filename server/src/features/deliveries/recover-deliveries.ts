import type { Actor } from '../../platform/http/index.ts'
import { isoTimeOrNull } from '../../platform/http/index.ts'
import { recordChange } from '../audit/index.ts'
import { requireProject } from '../projects/index.ts'
import type { DeliveryHead } from './delivery-list.store.ts'
import { findDeliveryHeads } from './delivery-record.store.ts'
import type { Recoverable } from './delivery-status.ts'
import { listedView } from './delivery-view.ts'
import { matchesFailure } from './failure.store.ts'
import { listed } from './list-deliveries.ts'
import {
  type Candidates,
  candidatesIn,
  RECOVERY_ORDER,
  type RecoveryFilter,
  type RecoveryPosition,
} from './recovery-candidates.ts'
import { reopenDeliveries } from './reopen-deliveries.ts'
import type { RecordDeps } from './retry-delivery.ts'

export interface Recovery extends RecoveryFilter {
  readonly include: readonly Recoverable[]
  /** Only counts the deliveries. */
  readonly dryRun: boolean
  /** Ends the recovery after the transaction that reaches this number. */
  readonly limit?: number | undefined
  readonly actor: Actor
  /** Ends the recovery after the transaction that runs, if the client has gone. */
  readonly signal?: AbortSignal | undefined
}

/** How many deliveries a dry run shows. */
const SAMPLE_SIZE = 10

/**
 * Makes failed deliveries due. In small transactions, each with its note in the audit log: if it is interrupted, the same
 * call continues. Deleted destinations get nothing.
 */
export async function recoverDeliveries(deps: RecordDeps, recovery: Recovery) {
  await requireProject(deps.db, recovery.projectId)
  // Counts failing ones first: a recovered delivery that fails again is failing, and must not be counted twice.
  const left = recovery.include.includes('failing') ? 0 : await countFailing(deps, recovery)
  const { reopened, held, sample, next } = await recoverIncluded(deps, recovery)
  return {
    reopened,
    /** Of these, to destinations that are disabled: sent once those are enabled. */
    held,
    failing_left_out: left,
    skipped: recovery.ids ? recovery.ids.length - reopened : 0,
    sample: recovery.dryRun ? await sampleOf(deps, recovery, sample) : [],
    next,
  }
}

async function countFailing(deps: RecordDeps, recovery: Recovery): Promise<number> {
  const counting = { ...recovery, include: ['failing' as const], dryRun: true, limit: undefined }
  // A call that continues has the answer of the first one.
  return recovery.after ? 0 : (await recoverIncluded(deps, counting)).reopened
}

async function recoverIncluded(deps: RecordDeps, recovery: Recovery) {
  const { limit = Number.POSITIVE_INFINITY } = recovery
  const total = { reopened: 0, held: 0, sample: [] as string[], next: null as RecoveryPosition | null }
  for await (const candidates of candidatesOf(deps, recovery)) {
    if (recovery.signal?.aborted) break
    const { ids, destination, last } = candidates
    const reopened = recovery.dryRun ? ids.length : await recoverSome(deps, recovery, candidates)
    total.reopened += reopened
    if (destination.active !== 1) total.held += reopened
    total.sample.push(...ids.slice(0, SAMPLE_SIZE - total.sample.length))
    if (total.reopened >= limit) return { ...total, next: last }
  }
  return total
}

async function* candidatesOf({ db }: RecordDeps, recovery: Recovery): AsyncGenerator<Candidates> {
  for (const state of RECOVERY_ORDER)
    if (recovery.include.includes(state)) yield* candidatesIn(db, recovery, state)
}

async function sampleOf({ db }: RecordDeps, { projectId }: Recovery, ids: readonly string[]) {
  const rows = ids.length === 0 ? [] : await findDeliveryHeads(db, projectId, ids)
  const views = await Promise.all(rows.map(async (row) => listedView(await listed(db, row))))
  return views.sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id))
}

/** Checked again under the lock: a delivery may have been sent meanwhile. */
const isStill: Readonly<Record<Recoverable, (row: DeliveryHead, since: number) => boolean>> = {
  exhausted: ({ status, settled_at }, since) => status === 'exhausted' && (settled_at ?? 0) >= since,
  failing: ({ status, attempts_made }) => status === 'pending' && attempts_made > 0,
}

const recoverSome = (
  deps: RecordDeps,
  { projectId, since, failure, actor }: Recovery,
  { state, destination, ids }: Candidates,
): Promise<number> =>
  deps.db.transaction(async (tx) => {
    const matches = (row: DeliveryHead) => isStill[state](row, since ?? 0) && matchesFailure(row, failure)
    const { after } = await reopenDeliveries(tx, { projectId, ids, matches })
    if (after.length > 0)
      await recordChange(deps, tx, {
        actor,
        action: `${destination.kind}.deliveries_recovered`,
        projectId,
        subject: { type: destination.kind, id: destination.id },
        before: null,
        after: {
          since: isoTimeOrNull(since ?? null),
          ...(failure.httpStatus !== undefined && { http_status: failure.httpStatus }),
          ...(failure.error !== undefined && { error: failure.error }),
          state,
          reopened: after.length,
        },
      })
    return after.length
  })
