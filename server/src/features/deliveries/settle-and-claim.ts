import type { Database } from '../../platform/database/index.ts'
import { sibling } from '../../platform/sibling.ts'
import { settleAndClaimOnPostgres } from './delivery-queue.postgres.ts'
import type { Claimed, SettleAndClaim } from './delivery-queue.ts'

const SQLITE_PROCEDURE = sibling(import.meta.url, './delivery-queue.sqlite')

/**
 * Settles and claims in one transaction, because one commit costs the same for both. It finds due deliveries
 * destination by destination, so that a long queue costs the other destinations nothing.
 */
export const settleAndClaim = (db: Database, input: SettleAndClaim): Promise<Claimed> =>
  db.engine === 'sqlite'
    ? db.runInWriter<SettleAndClaim, Claimed>(SQLITE_PROCEDURE, input)
    : db.withConnection((connection) => settleAndClaimOnPostgres(connection, input))
