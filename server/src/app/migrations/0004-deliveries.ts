import { sql } from 'kysely'
import type { Migration } from '../../platform/database/index.ts'

/** Deliveries, their attempts, and the publications of distributions. */
export const deliveries: Migration = {
  name: '0004-deliveries',
  async up(db, types) {
    await db.schema
      .createTable('deliveries')
      .addColumn('project_id', 'text', (c) => c.notNull())
      .addColumn('id', 'text', (c) => c.notNull())
      .addColumn('event_id', 'text', (c) => c.notNull())
      .addColumn('destination_id', 'text', (c) => c.notNull())
      .addColumn('status', 'text', (c) => c.notNull())
      .addColumn('head', 'text', (c) => c.notNull())
      .addColumn('tail', 'text', (c) => c.notNull())
      .addColumn('attempts_made', 'bigint', (c) => c.notNull())
      .addColumn('slot', 'bigint', (c) => c.notNull())
      .addColumn('first_attempt_at', 'bigint')
      .addColumn('next_attempt_at', 'bigint')
      .addColumn('claim_id', 'text')
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('settled_at', 'bigint')
      .addPrimaryKeyConstraint('deliveries_pk', ['project_id', 'id'])
      .execute()
    // The queue of each destination, oldest first, so that a long queue costs the others nothing.
    await db.schema
      .createIndex('deliveries_due')
      .on('deliveries')
      .columns(['project_id', 'destination_id', 'next_attempt_at'])
      .where(sql.ref('status'), '=', sql.lit('pending'))
      .execute()
    await db.schema
      .createIndex('deliveries_newest')
      .on('deliveries')
      .columns(['project_id', 'created_at', 'id'])
      .execute()
    // A list filtered by status or destination reads a few ranges of this index, newest first. It never scans deliveries of
    // another status, even if there are millions.
    await db.schema
      .createIndex('deliveries_listed')
      .on('deliveries')
      .columns(['project_id', 'status', 'destination_id', 'created_at', 'id'])
      .execute()
    await db.schema
      .createIndex('deliveries_of_event')
      .on('deliveries')
      .columns(['project_id', 'event_id'])
      .execute()

    const attempts = db.schema
      .createTable('attempts')
      .addColumn('project_id', 'text', (c) => c.notNull())
      .addColumn('delivery_id', 'text', (c) => c.notNull())
      .addColumn('number', 'bigint', (c) => c.notNull())
      .addColumn('at', 'bigint', (c) => c.notNull())
      .addColumn('duration_ms', 'bigint', (c) => c.notNull())
      .addColumn('status', 'bigint')
      .addColumn('response_body', 'text')
      .addColumn('error', 'text')
      .addPrimaryKeyConstraint('attempts_pk', ['project_id', 'delivery_id', 'number'])
    // On SQLite the rows are stored in the primary key, so that one tree is written instead of two.
    await (types.bytes === 'blob' ? attempts.modifyEnd(sql`without rowid`) : attempts).execute()

    await db.schema
      .createTable('publications')
      .addColumn('project_id', 'text', (c) => c.notNull())
      .addColumn('id', 'text', (c) => c.notNull())
      .addColumn('event_id', 'text', (c) => c.notNull())
      .addColumn('distribution_id', 'text', (c) => c.notNull())
      .addColumn('customer_id', 'text')
      .addColumn('data', 'text', (c) => c.notNull())
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addPrimaryKeyConstraint('publications_pk', ['project_id', 'id'])
      .execute()
    await db.schema
      .createIndex('publications_newest')
      .on('publications')
      .columns(['project_id', 'created_at', 'id'])
      .execute()
    await db.schema
      .createIndex('publications_of_customer')
      .on('publications')
      .columns(['project_id', 'customer_id', 'created_at', 'id'])
      .execute()
    // Deleted together with their event.
    await db.schema
      .createIndex('publications_of_event')
      .on('publications')
      .columns(['project_id', 'event_id'])
      .execute()

    await db.schema.alterTable('destinations').addColumn('failing_since', 'bigint').execute()
    await db.schema.alterTable('destinations').addColumn('released_at', 'bigint').execute()
    await db.schema
      .alterTable('destinations')
      .addColumn('skips', 'text', (c) => c.notNull().defaultTo('[]'))
      .execute()
    await db.schema
      .createIndex('destinations_released')
      .on('destinations')
      .columns(['released_at'])
      .where(sql.ref('released_at'), 'is not', null)
      .execute()
  },
}
