import { sql } from 'kysely'
import type { Transaction } from '../../platform/database/index.ts'

export interface IdempotencyRow {
  project_id: string
  api_key_id: string
  key: string
  /** Distinguishes the same request from another one with the same key. */
  fingerprint: string
  /** Body of the response; null only inside the transaction that creates the row. */
  answer: string | null
  created_at: number
}

interface IdempotencyTables {
  idempotency_keys: IdempotencyRow
}

export type KeyName = Pick<IdempotencyRow, 'project_id' | 'api_key_id' | 'key'>

/**
 * Returns false if the key exists. On PostgreSQL it waits for a concurrent transaction that inserts the same key: a
 * duplicate waits for the first request, and is processed itself if that one fails.
 */
export async function insertKey(tx: Transaction, row: IdempotencyRow): Promise<boolean> {
  const inserted = await tx
    .write<IdempotencyTables>()
    .insertInto('idempotency_keys')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return inserted.numInsertedOrUpdatedRows === 1n
}

export const lockKey = (tx: Transaction, name: KeyName): Promise<IdempotencyRow | undefined> =>
  tx
    .lock(
      tx
        .write<IdempotencyTables>()
        .selectFrom('idempotency_keys')
        .selectAll()
        .where('project_id', '=', name.project_id)
        .where('api_key_id', '=', name.api_key_id)
        .where('key', '=', name.key),
    )
    .executeTakeFirst()

export async function updateKey(
  tx: Transaction,
  name: KeyName,
  change: Partial<IdempotencyRow>,
): Promise<void> {
  await tx
    .write<IdempotencyTables>()
    .updateTable('idempotency_keys')
    .set(change)
    .where('project_id', '=', name.project_id)
    .where('api_key_id', '=', name.api_key_id)
    .where('key', '=', name.key)
    .execute()
}

/** Deletes up to `limit` keys that were created until a time, and returns how many. */
export async function deleteSomeKeysBefore(tx: Transaction, at: number, limit: number): Promise<number> {
  const key = sql`project_id, api_key_id, key`
  const { numAffectedRows } = await sql`
    delete from idempotency_keys where (${key}) in
      (select ${key} from idempotency_keys where created_at <= ${at} order by created_at limit ${limit})`.execute(
    tx.write<IdempotencyTables>(),
  )
  return Number(numAffectedRows)
}

export async function deleteIdempotencyOfProject(tx: Transaction, projectId: string): Promise<void> {
  await tx
    .write<IdempotencyTables>()
    .deleteFrom('idempotency_keys')
    .where('project_id', '=', projectId)
    .execute()
}
