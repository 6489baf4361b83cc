import { sql } from 'kysely'
import type { Migration } from '../../platform/database/index.ts'

const METRICS = [
  'tokens_issued',
  'introspections',
  'calls',
  'refusals',
  'redemptions',
  'deliveries',
  'failed_deliveries',
  'delivery_latency',
  'active_tokens',
]

/**
 * Usage with one row for all metrics of a series: a row for each took more than 200 MB on PostgreSQL. The usage that builds
 * before the first release have counted is dropped.
 */
export const usageRows: Migration = {
  name: '0022-usage-rows',
  async up(db, types) {
    const isSqlite = types.bytes === 'blob'
    const text = isSqlite ? 'text' : sql`text collate "C"`
    for (const table of ['usage_series', 'usage_minutes', 'usage_hours'])
      await db.schema.dropTable(table).execute()
    await db.schema
      .createTable('usage_series')
      .addColumn('id', 'bigint', (c) => c.primaryKey().notNull())
      .addColumn('project_id', text, (c) => c.notNull())
      .addColumn('dimension', text, (c) => c.notNull())
      .addColumn('key', text, (c) => c.notNull())
      .addColumn('bucket', 'bigint', (c) => c.notNull())
      .execute()
    await db.schema
      .createIndex('usage_series_by_name')
      .unique()
      .on('usage_series')
      .columns(['project_id', 'dimension', 'key', 'bucket'])
      .execute()
    // For sums over all projects.
    await db.schema
      .createIndex('usage_series_by_dimension')
      .on('usage_series')
      .columns(['dimension', 'bucket'])
      .execute()
    for (const step of ['minutes', 'hours']) {
      let table = db.schema
        .createTable(`usage_${step}`)
        .addColumn('series_id', 'bigint', (c) => c.notNull())
        .addColumn('at', 'bigint', (c) => c.notNull())
        .addPrimaryKeyConstraint(`usage_${step}_pk`, ['series_id', 'at'])
      for (const metric of METRICS)
        table = table.addColumn(metric, 'bigint', (c) => c.notNull().defaultTo(0)) as typeof table
      // A minute is updated six times. With free space in their pages, 99 % of the updates leave the index alone.
      const space = step === 'minutes' ? 50 : 100
      await table.modifyEnd(isSqlite ? sql`without rowid` : sql.raw(`with (fillfactor = ${space})`)).execute()
      // For splits. Without it, PostgreSQL reads all of the primary key to find the points of a day.
      if (!isSqlite)
        await db.schema.createIndex(`usage_${step}_by_time`).on(`usage_${step}`).column('at').execute()
    }
  },
}
