import { sql } from 'kysely'
import type { Migration } from '../../platform/database/index.ts'

/** A delivery that was sent before it was stored contains its first attempt: one row instead of two. */
export const shortDeliveries: Migration = {
  name: '0012-short-deliveries',
  async up(db, types) {
    const text = types.bytes === 'blob' ? 'text' : sql`text collate "C"`
    await db.schema.alterTable('deliveries').addColumn('first_attempt', text).execute()
  },
}
