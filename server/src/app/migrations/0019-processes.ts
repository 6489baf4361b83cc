import { sql } from 'kysely'
import type { Migration } from '../../platform/database/index.ts'

/**
 * `processes` has one row per running process, renewed by its heartbeat. `key_state` counts the changes of API keys: a
 * process that has read a number has read every change up to it, whatever the clocks of machines say.
 */
export const processes: Migration = {
  name: '0019-processes',
  async up(db, types) {
    const text = types.bytes === 'blob' ? 'text' : sql`text collate "C"`
    await db.schema
      .createTable('processes')
      .addColumn('id', text, (c) => c.primaryKey().notNull())
      .addColumn('host', text, (c) => c.notNull())
      .addColumn('pid', 'bigint', (c) => c.notNull())
      .addColumn('version', text, (c) => c.notNull())
      .addColumn('role', text, (c) => c.notNull())
      .addColumn('started_at', 'bigint', (c) => c.notNull())
      .addColumn('seen_at', 'bigint', (c) => c.notNull())
      .addColumn('key_state_version', 'bigint')
      .addColumn('key_state_age_ms', 'bigint')
      .addColumn('cached_tokens', 'bigint')
      .addColumn('cache_hits', 'bigint')
      .addColumn('cache_misses', 'bigint')
      .addColumn('event_loop_delay_p99_us', 'bigint')
      .addColumn('rss_bytes', 'bigint', (c) => c.notNull())
      .execute()
    await db.schema
      .createTable('key_state')
      .addColumn('id', 'bigint', (c) => c.primaryKey().notNull())
      .addColumn('version', 'bigint', (c) => c.notNull())
      .execute()
  },
}
