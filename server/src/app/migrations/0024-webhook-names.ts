import { sql } from 'kysely'
import type { Migration } from '../../platform/database/index.ts'

/** Webhooks may have a name, which is unique in the project. Deleted ones keep theirs and block no new one. */
export const webhookNames: Migration = {
  name: '0024-webhook-names',
  async up(db) {
    await db.schema
      .createIndex('webhooks_by_name')
      .unique()
      .on('destinations')
      .columns(['project_id', 'name'])
      .where(sql.ref('kind'), '=', sql.lit('webhook'))
      .where(sql.ref('deleted_at'), 'is', null)
      .execute()
  },
}
