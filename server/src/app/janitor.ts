import { deleteKeysOfProject } from '../features/api-keys/index.ts'
import { deleteProjectRow, listProjectsDeletedBefore } from '../features/projects/index.ts'
import type { createRefusalRecorder } from '../features/refusals/index.ts'
import { deleteTokensOfProject, removeOldTokens } from '../features/tokens/index.ts'
import type { Database } from '../platform/database/index.ts'

/** Deleted keys stay until every process must have seen that they are. */
const DELETED_FOR_MS = 15 * 60_000

/** Removes what can no longer matter, in small transactions. The audit log of a deleted project stays. */
export async function removeOld(
  db: Database,
  refusals: ReturnType<typeof createRefusalRecorder>,
  now: number,
): Promise<void> {
  await removeOldTokens(db, now)
  await refusals.forgetOld()
  for (const id of await listProjectsDeletedBefore(db, now - DELETED_FOR_MS))
    await db.transaction(async (tx) => {
      await deleteTokensOfProject(tx, id)
      await deleteKeysOfProject(tx, id)
      await refusals.forgetProject(tx, id)
      await deleteProjectRow(tx, id)
    })
}
