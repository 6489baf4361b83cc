import { sql } from 'kysely'
import type { Migration } from '../../platform/database/index.ts'

/** Events keep the `traceparent` of the request that caused them. It is null for older events and those of older versions. */
export const traces: Migration = {
  name: '0027-traces',
  async up(db, types) {
    const text = types.bytes === 'blob' ? 'text' : sql`text collate "C"`
    await db.schema.alterTable('events').addColumn('traceparent', text).execute()
  },
}
