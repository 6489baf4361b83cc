import type { Database } from '../../platform/database/index.ts'
import { deleteOldTokens } from './token.store.ts'

/** Expired tokens are kept for this long, so that every process has seen their issue time. */
const EXPIRED_FOR_MS = 60_000
/** Revoked tokens are kept for this long, so that every process has seen the revocation. */
const REVOKED_FOR_MS = 15 * 60_000
/** Small, so that issuing does not wait long for the writer. */
const BATCH = 500
const MAX_BATCHES_PER_RUN = 200

/** Removes tokens that are no longer used, and returns how many. */
export async function removeOldTokens(db: Database, now: number): Promise<number> {
  let removed = 0
  for (let i = 0; i < MAX_BATCHES_PER_RUN; i++) {
    const found = await deleteOldTokens(db, {
      expiredBefore: now - EXPIRED_FOR_MS,
      revokedBefore: now - REVOKED_FOR_MS,
      limit: BATCH,
    })
    removed += found
    if (found < BATCH) break
  }
  return removed
}
