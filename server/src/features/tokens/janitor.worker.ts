import type { Database } from '../../platform/database/index.ts'
import { deleteOldTokens } from './token.store.ts'

/** Past its expiry a token stays a little, so that every process has seen the time at which it was issued. */
const EXPIRED_FOR_MS = 60_000
/** Revoked ones stay until every process must have seen that they are. */
const REVOKED_FOR_MS = 15 * 60_000
/** Small, so that issuing never waits long behind one. */
const BATCH = 500
const BATCHES_AT_ONCE = 200

/** Removes tokens that can no longer matter; how many. */
export async function removeOldTokens(db: Database, now: number): Promise<number> {
  let removed = 0
  for (let i = 0; i < BATCHES_AT_ONCE; i++) {
    const found = await deleteOldTokens(db, {
      expiredBefore: now - EXPIRED_FOR_MS,
      revokedBefore: now - REVOKED_FOR_MS,
      most: BATCH,
    })
    removed += found
    if (found < BATCH) break
  }
  return removed
}
