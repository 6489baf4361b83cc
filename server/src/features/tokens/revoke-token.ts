import type { Database, Transaction } from '../../platform/database/index.ts'
import { lockApiKey } from '../api-keys/index.ts'
import { requireLockedProject, updateProjectRow } from '../projects/index.ts'
import { clearKeyFullUntil, findTokens, markRevoked } from './token.store.ts'
import type { TokenLocator } from './token.ts'
import { uncountToken } from './token-counts.sqlite.store.ts'

/**
 * Revokes a token if it is active and, if a key is given, was issued to that key. Locks the project, which blocks issuing,
 * then the key. `record` is part of the same transaction. Returns false if there was nothing to revoke.
 */
export const revokeToken = (
  db: Database,
  locator: TokenLocator,
  { byKeyId, record }: { byKeyId?: string; record?: (tx: Transaction) => Promise<void> } = {},
): Promise<boolean> =>
  db.transaction(async (tx) => {
    await requireLockedProject(tx, locator.projectId)
    const [token] = await findTokens(tx, [locator])
    if (!token || (byKeyId !== undefined && token.key_id !== byKeyId)) return false
    const key = await lockApiKey(tx, locator.projectId, token.key_id)
    const now = await tx.now()
    if (key?.epoch !== token.epoch || token.revoked_at !== null) return false
    // Also if the token has expired by this clock: the clock of another process may be behind and still accept it.
    await markRevoked(tx, locator, now)
    if (db.engine === 'sqlite') await uncountToken(tx, token)
    // A credit is free earlier than stored.
    await updateProjectRow(tx, locator.projectId, { full_until: null })
    await clearKeyFullUntil(tx, locator.projectId, token.key_id)
    if (token.expires_at <= now) return false
    await record?.(tx)
    return true
  })
