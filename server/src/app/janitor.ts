import { deleteKeysOfProject } from '../features/api-keys/index.ts'
import { type Retention, removeDeliveriesOfProject } from '../features/deliveries/index.ts'
import { removeEventsOfProject } from '../features/events/index.ts'
import { forgetOldKeys } from '../features/idempotency/index.ts'
import { removeEndedSessions } from '../features/operators/index.ts'
import { removeOldProcesses } from '../features/processes/index.ts'
import { deleteProjectRow, listProjectsDeletedBefore } from '../features/projects/index.ts'
import type { createRefusalRecorder } from '../features/refusals/index.ts'
import { removeOldTokens } from '../features/tokens/index.ts'
import { removeUsageOfProject } from '../features/usage/index.ts'
import {
  deleteDestinationsOfProject,
  forgetPreviousSecrets,
  forgetSkips,
} from '../features/webhooks/index.ts'
import type { Database } from '../platform/database/index.ts'
import { deleteLoyaltyOfProject } from './loyalty.ts'

/** Deleted keys are kept until every process has seen the deletion. */
const DELETED_FOR_MS = 15 * 60_000

interface Deps {
  readonly db: Database
  readonly refusals: ReturnType<typeof createRefusalRecorder>
  readonly retention: Retention
}

/** Removes data that is no longer used, in small transactions. The audit log of a deleted project stays. */
export async function removeOld({ db, refusals, retention }: Deps, now: number): Promise<void> {
  await removeOldTokens(db, now)
  await refusals.forgetOld()
  await forgetOldKeys(db, now)
  await db.transaction(async (tx) => {
    await forgetPreviousSecrets(tx, now)
    await forgetSkips(tx)
    await removeEndedSessions(tx, now)
    await removeOldProcesses(tx, now)
  })
  for (const id of await listProjectsDeletedBefore(db, now - DELETED_FOR_MS)) {
    await removeDeliveriesOfProject(db, id)
    await removeEventsOfProject(db, id)
    await removeUsageOfProject(db, id)
    await db.transaction(async (tx) => {
      await deleteDestinationsOfProject(tx, id)
      await deleteLoyaltyOfProject(tx, id)
      await deleteKeysOfProject(tx, id)
      await refusals.forgetProject(tx, id)
      await deleteProjectRow(tx, id)
    })
  }
  await retention.run(now)
}
