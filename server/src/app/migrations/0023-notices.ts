import { sql } from 'kysely'
import type { Migration } from '../../platform/database/index.ts'

/** Notices of problems: which were found, which are over, and which are still to be sent. */
export const notices: Migration = {
  name: '0023-notices',
  async up(db, types) {
    const text = types.bytes === 'blob' ? 'text' : sql`text collate "C"`
    await db.schema
      .createTable('notices')
      .addColumn('id', text, (c) => c.primaryKey().notNull())
      .addColumn('kind', text, (c) => c.notNull())
      .addColumn('subject_type', text, (c) => c.notNull())
      .addColumn('subject_id', text, (c) => c.notNull())
      .addColumn('entry', text, (c) => c.notNull())
      .addColumn('started_at', 'bigint', (c) => c.notNull())
      .addColumn('seen_at', 'bigint', (c) => c.notNull())
      .addColumn('ended_at', 'bigint')
      .addColumn('was_tried', 'bigint', (c) => c.notNull())
      .addColumn('attempts', 'bigint', (c) => c.notNull())
      .addColumn('next_attempt_at', 'bigint')
      .execute()
    // The id is derived from the hour, and two processes may see different hours at its end.
    await db.schema
      .createIndex('notices_open')
      .unique()
      .on('notices')
      .columns(['kind', 'subject_type', 'subject_id'])
      .where(sql.ref('ended_at'), 'is', null)
      .execute()
    await db.schema
      .createIndex('notices_due')
      .on('notices')
      .column('next_attempt_at')
      .where(sql.ref('next_attempt_at'), 'is not', null)
      .execute()
  },
}
