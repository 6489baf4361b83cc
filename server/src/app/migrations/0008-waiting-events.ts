import { sql } from 'kysely'
import type { Migration } from '../../platform/database/index.ts'

/**
 * Moves the outbox to its own table. Rows of `events` are long and in many indexes: taking an event out of the queue no
 * longer rewrites it. Events that are being fanned out wait again.
 */
export const waitingEvents: Migration = {
  name: '0008-waiting-events',
  async up(db, types) {
    const isPostgres = types.bytes !== 'blob'
    const text = isPostgres ? sql`text collate "C"` : 'text'
    const table = db.schema
      .createTable('waiting_events')
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('project_id', text, (c) => c.notNull())
      .addColumn('event_id', text, (c) => c.notNull())
      .addColumn('claim_id', text)
      .addColumn('free_at', 'bigint', (c) => c.notNull())
      .addPrimaryKeyConstraint('waiting_events_pk', ['created_at', 'project_id', 'event_id'])
    // On PostgreSQL the page has free space for the claim, so that no index is updated.
    await table.modifyEnd(isPostgres ? sql`with (fillfactor = 50)` : sql`without rowid`).execute()
    // Waits for transactions that are writing events, so that their events are seen.
    if (isPostgres) await sql`lock table events in exclusive mode`.execute(db)
    await sql`insert into waiting_events (created_at, project_id, event_id, free_at)
      select created_at, project_id, id, created_at from events where fanned_out_at is null`.execute(db)
    await db.schema.dropIndex('events_waiting').execute()
    await db.schema.alterTable('events').dropColumn('fanned_out_at').execute()
  },
}
