import { sql } from 'kysely'
import type { Migration } from '../../platform/database/index.ts'

/**
 * Lists the deliveries that were attempted and not delivered without reading the backlog of those that were never attempted.
 * Only failing rows have an entry. `attempts_made` is the last column so that SQLite reads nothing but the index.
 */
export const failingDeliveries: Migration = {
  name: '0013-failing-deliveries',
  async up(db) {
    await db.schema
      .createIndex('deliveries_failing')
      .on('deliveries')
      .columns(['project_id', 'status', 'destination_id', 'created_at', 'id', 'attempts_made'])
      .where(sql.ref('status'), '=', sql.lit('pending'))
      .where(sql.ref('attempts_made'), '>', sql.lit(0))
      .execute()
  },
}
