import { sql } from 'kysely'
import type { Migration } from '../../platform/database/index.ts'

/** Usage over time: named series, and their counts by the minute and by the hour. */
export const usage: Migration = {
  name: '0021-usage',
  async up(db, types) {
    const text = types.bytes === 'blob' ? 'text' : sql`text collate "C"`
    await db.schema
      .createTable('usage_series')
      .addColumn('id', 'bigint', (c) => c.primaryKey().notNull())
      .addColumn('project_id', text, (c) => c.notNull())
      .addColumn('metric', text, (c) => c.notNull())
      .addColumn('dimension', text, (c) => c.notNull())
      .addColumn('key', text, (c) => c.notNull())
      .addColumn('bucket', 'bigint', (c) => c.notNull())
      .execute()
    await db.schema
      .createIndex('usage_series_by_name')
      .unique()
      .on('usage_series')
      .columns(['project_id', 'metric', 'dimension', 'key', 'bucket'])
      .execute()
    // For sums over all projects.
    await db.schema
      .createIndex('usage_series_by_metric')
      .on('usage_series')
      .columns(['metric', 'dimension', 'project_id'])
      .execute()
    for (const step of ['minutes', 'hours']) {
      const table = db.schema
        .createTable(`usage_${step}`)
        .addColumn('series_id', 'bigint', (c) => c.notNull())
        .addColumn('at', 'bigint', (c) => c.notNull())
        .addColumn('count', 'bigint', (c) => c.notNull())
        .addPrimaryKeyConstraint(`usage_${step}_pk`, ['series_id', 'at'])
      await (types.bytes === 'blob' ? table.modifyEnd(sql`without rowid`) : table).execute()
    }
  },
}
