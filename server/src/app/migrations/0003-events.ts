import { sql } from 'kysely'
import type { Migration } from '../../platform/database/index.ts'

/** Events, redemptions that were reported from elsewhere, and destinations of events. */
export const events: Migration = {
  name: '0003-events',
  async up(db) {
    await db.schema
      .createTable('events')
      .addColumn('project_id', 'text', (c) => c.notNull())
      .addColumn('id', 'text', (c) => c.notNull())
      .addColumn('kind', 'text', (c) => c.notNull())
      .addColumn('version', 'text', (c) => c.notNull())
      .addColumn('entity_id', 'text', (c) => c.notNull())
      .addColumn('campaign_id', 'text')
      .addColumn('group_id', 'text')
      .addColumn('channel', 'text', (c) => c.notNull())
      .addColumn('key_name', 'text')
      .addColumn('key_app_id', 'text')
      .addColumn('data', 'text', (c) => c.notNull())
      .addColumn('occurred_at', 'bigint', (c) => c.notNull())
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('fanned_out_at', 'bigint')
      .addPrimaryKeyConstraint('events_pk', ['project_id', 'id'])
      .execute()
    await db.schema
      .createIndex('events_newest')
      .on('events')
      .columns(['project_id', 'created_at', 'id'])
      .execute()
    await db.schema
      .createIndex('events_of_entity')
      .on('events')
      .columns(['project_id', 'entity_id', 'created_at', 'id'])
      .execute()
    // The queue of the fan-out: a partial index with the waiting events only.
    await db.schema
      .createIndex('events_waiting')
      .on('events')
      .columns(['created_at', 'id'])
      .where(sql.ref('fanned_out_at'), 'is', null)
      .execute()

    // Reports are written exactly once per client id. The digest detects different content with the same id.
    await db.schema
      .createTable('reported_redemptions')
      .addColumn('project_id', 'text', (c) => c.notNull())
      .addColumn('source_id', 'text', (c) => c.notNull())
      .addColumn('body_digest', 'text', (c) => c.notNull())
      .addColumn('event_id', 'text', (c) => c.notNull())
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addPrimaryKeyConstraint('reported_redemptions_pk', ['project_id', 'source_id'])
      .execute()

    // Project webhooks and distributions. `secret`, `previous_secret` and the values of `headers` are encrypted.
    await db.schema
      .createTable('destinations')
      .addColumn('project_id', 'text', (c) => c.notNull())
      .addColumn('id', 'text', (c) => c.notNull())
      .addColumn('kind', 'text', (c) => c.notNull())
      .addColumn('name', 'text')
      .addColumn('campaign_id', 'text')
      .addColumn('event_name', 'text')
      .addColumn('headers', 'text', (c) => c.notNull())
      .addColumn('target_url', 'text', (c) => c.notNull())
      .addColumn('events', 'text', (c) => c.notNull())
      .addColumn('active', 'bigint', (c) => c.notNull())
      .addColumn('disabled_reason', 'text')
      .addColumn('description', 'text')
      .addColumn('secret', 'text', (c) => c.notNull())
      .addColumn('secret_last4', 'text', (c) => c.notNull())
      .addColumn('previous_secret', 'text')
      .addColumn('previous_until', 'bigint')
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('updated_at', 'bigint', (c) => c.notNull())
      .addColumn('deleted_at', 'bigint')
      .addPrimaryKeyConstraint('destinations_pk', ['project_id', 'id'])
      .execute()
    await db.schema
      .createIndex('destinations_newest')
      .on('destinations')
      .columns(['project_id', 'kind', 'created_at', 'id'])
      .execute()
  },
}
