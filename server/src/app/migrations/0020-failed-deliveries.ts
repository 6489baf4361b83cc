import { type Kysely, sql } from 'kysely'
import type { Migration } from '../../platform/database/index.ts'

/** Longer errors are cut: PostgreSQL limits the entries of an index. */
const MAX_ERROR_LENGTH = 500

/**
 * Finds deliveries by the answer or the error of their last attempt. Both are columns of the delivery while that attempt
 * is a failure, and only failures have index entries, so a delivery that succeeds at once costs nothing.
 */
export const failedDeliveries: Migration = {
  name: '0020-failed-deliveries',
  async up(db, types) {
    const isSqlite = types.bytes === 'blob'
    const text = isSqlite ? 'text' : sql`text collate "C"`
    await db.schema.alterTable('deliveries').addColumn('last_status', 'bigint').execute()
    await db.schema.alterTable('deliveries').addColumn('last_error', text).execute()
    await copyLastAttempts(db)
    const range = ['project_id', 'status', 'destination_id']
    await indexFailures(db, 'deliveries_by_error', [...range, 'created_at', 'id', 'last_error'])
    await indexFailures(db, 'deliveries_by_answer', [...range, 'last_status', 'created_at', 'id'])
    // Addresses that a key was used from lately, as JSON.
    await db.schema
      .alterTable('api_keys')
      .addColumn('recent_addresses', text, (c) => c.notNull().defaultTo('[]'))
      .execute()
    // Newest first, like every other list.
    await db.schema.dropIndex('customers_email').execute()
    await db.schema
      .createIndex('customers_of_email')
      .on('customers')
      .columns(['project_id', 'email', 'created_at', 'id'])
      .execute()
  },
}

const indexFailures = (db: Kysely<unknown>, name: string, columns: readonly string[]): Promise<void> =>
  db.schema
    .createIndex(name)
    .on('deliveries')
    .columns([...columns])
    .where(sql.ref('last_error'), 'is not', null)
    .execute()

async function copyLastAttempts(db: Kysely<unknown>): Promise<void> {
  const last = (column: string) => sql`(select ${sql.raw(column)} from attempts a
    where a.project_id = deliveries.project_id and a.delivery_id = deliveries.id
      and a.number = deliveries.attempts_made and a.error is not null)`
  await sql`
    update deliveries set last_status = ${last('status')},
      last_error = ${last(`substr(error, 1, ${MAX_ERROR_LENGTH})`)}
    where status = 'exhausted' or (status = 'pending' and attempts_made > 0)`.execute(db)
}
