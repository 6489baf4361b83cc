import { sql } from 'kysely'
import type { Migration } from '../../platform/database/index.ts'

/** A refusal records the path that a proxy asked about, and the scope that the call lacked. */
export const refusedCalls: Migration = {
  name: '0025-refused-calls',
  async up(db, types) {
    const text = types.bytes === 'blob' ? 'text' : sql`text collate "C"`
    await db.schema.alterTable('refusals').addColumn('original_path', text).execute()
    await db.schema.alterTable('refusals').addColumn('required_scope', text).execute()
  },
}
