import { sql } from 'kysely'
import type { Migration } from '../../platform/database/index.ts'

/**
 * Sessions of browsers, and the single-use codes that start one. Only digests are stored. Audit entries tell how a change
 * came in; older ones have no `via`, since no session existed.
 */
export const sessions: Migration = {
  name: '0018-sessions',
  async up(db, types) {
    const bytes = sql.raw(types.bytes) as never
    const text = types.bytes === 'blob' ? 'text' : sql`text collate "C"`

    await db.schema
      .createTable('sessions')
      .addColumn('id', text, (c) => c.primaryKey().notNull())
      .addColumn('digest', bytes, (c) => c.notNull().unique())
      .addColumn('operator_id', text, (c) => c.notNull())
      .addColumn('address', text)
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('last_used_at', 'bigint', (c) => c.notNull())
      .addColumn('expires_at', 'bigint', (c) => c.notNull())
      .execute()
    await db.schema.createIndex('sessions_operator').on('sessions').column('operator_id').execute()

    await db.schema
      .createTable('login_codes')
      .addColumn('digest', bytes, (c) => c.primaryKey().notNull())
      .addColumn('operator_id', text, (c) => c.notNull())
      .addColumn('expires_at', 'bigint', (c) => c.notNull())
      .execute()

    await db.schema.alterTable('audit_log').addColumn('via', text).execute()
  },
}
