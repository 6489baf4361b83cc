import { sql } from 'kysely'
import type { Migration } from '../../platform/database/index.ts'

/**
 * Events that wait to be fanned out lie beside `events`, whose rows are long and in many indexes: taking one out of the
 * queue no longer writes the event anew. What was in the middle of it goes on waiting.
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
    // On PostgreSQL there is room for the claim beside the row: no index hears of it.
    await table.modifyEnd(isPostgres ? sql`with (fillfactor = 50)` : sql`without rowid`).execute()
    // Whoever is writing one finishes first, and is seen.
    if (isPostgres) await sql`lock table events in exclusive mode`.execute(db)
    await sql`insert into waiting_events (created_at, project_id, event_id, free_at)
      select created_at, project_id, id, created_at from events where fanned_out_at is null`.execute(db)
    await db.schema.dropIndex('events_waiting').execute()
    await db.schema.alterTable('events').dropColumn('fanned_out_at').execute()
  },
}
