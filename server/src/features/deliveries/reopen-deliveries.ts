import type { Transaction } from '../../platform/database/index.ts'
import { DELIVERIES_DUE } from './delivery.store.ts'
import type { DeliveryRow } from './delivery.ts'
import type { DeliveryHead } from './delivery-list.store.ts'
import { LEASE_MS } from './delivery-queue.ts'
import { lockDeliveries, updateDeliveries } from './delivery-record.store.ts'

/** Rows that one transaction locks and changes, so that it does not block the single SQLite writer for long. */
export const ROWS_PER_TRANSACTION = 500

type Change = Partial<DeliveryRow>

/** Restarts the schedule of a finished delivery. Its attempts stay counted, and its bytes stay the same. */
const restartSchedule = (now: number): Change => ({
  status: 'pending',
  slot: 0,
  first_attempt_at: null,
  next_attempt_at: now,
  claim_id: null,
  settled_at: null,
})

/** Makes a delivery that waits for a retry due now, without changing its schedule. */
const madeDue = (now: number): Change => ({ next_attempt_at: now, claim_id: null })

/**
 * True if the delivery is due or claimed. It is sent anyway, and removing the claim would send it twice. A lease that ends
 * more than 20 s ahead was set before the clock was set back, and counts as expired.
 */
export const isInProgress = (
  { status, claim_id, next_attempt_at: at }: Pick<DeliveryHead, 'status' | 'claim_id' | 'next_attempt_at'>,
  now: number,
): boolean => status === 'pending' && (at! <= now || (claim_id !== null && at! <= now + LEASE_MS))

interface Asked {
  readonly projectId: string
  readonly ids: readonly string[]
  /** Checked again under the lock: a delivery may have changed since it was chosen. */
  readonly matches: (row: DeliveryHead) => boolean
}

interface Reopened {
  readonly before: readonly DeliveryHead[]
  readonly after: readonly DeliveryHead[]
  /** Matching deliveries that are in progress and stay unchanged. */
  readonly unchanged: readonly DeliveryHead[]
}

/** Makes deliveries due now, in the transaction that also writes the audit entry, then notifies the worker. */
export async function reopenDeliveries(
  tx: Transaction,
  { projectId, ids, matches }: Asked,
): Promise<Reopened> {
  const now = await tx.now()
  const meant = (await lockDeliveries(tx, projectId, ids)).filter(matches)
  const before = meant.filter((row) => !isInProgress(row, now))
  const waiting = before.filter(({ status }) => status === 'pending')
  const over = before.filter(({ status }) => status !== 'pending')
  await updateDeliveries(tx, projectId, { ids: idsOf(waiting), change: madeDue(now) })
  await updateDeliveries(tx, projectId, { ids: idsOf(over), change: restartSchedule(now) })
  if (before.length > 0) await tx.notify(DELIVERIES_DUE)
  const changeOf = ({ status }: DeliveryHead) => (status === 'pending' ? madeDue(now) : restartSchedule(now))
  return {
    before,
    after: before.map((row) => ({ ...row, ...changeOf(row) })),
    unchanged: meant.filter((row) => isInProgress(row, now)),
  }
}

const idsOf = (rows: readonly DeliveryHead[]): string[] => rows.map(({ id }) => id)
