import { sql } from 'kysely'
import type { Migration } from '../../platform/database/index.ts'

/**
 * Operators, projects, API keys, tokens, audit log, refusals. Times are epoch milliseconds, JSON is text. `project_id` is the
 * first key column of every tenant row, so that a PostgreSQL sharded by project needs no redesign.
 */
export const foundation: Migration = {
  name: '0001-foundation',
  oldestProgram: '0.1.0',
  async up(db, types) {
    const bytes = sql.raw(types.bytes) as never

    await db.schema
      .createTable('operators')
      .addColumn('id', 'text', (c) => c.primaryKey().notNull())
      .addColumn('name', 'text', (c) => c.notNull())
      .addColumn('token_digest', bytes, (c) => c.notNull())
      .addColumn('token_last4', 'text', (c) => c.notNull())
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('last_used_at', 'bigint')
      .execute()

    await db.schema
      .createTable('projects')
      .addColumn('id', 'text', (c) => c.primaryKey().notNull())
      .addColumn('name', 'text', (c) => c.notNull())
      .addColumn('token_limit', 'bigint', (c) => c.notNull())
      .addColumn('credits', 'bigint', (c) => c.notNull())
      .addColumn('full_until', 'bigint')
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('updated_at', 'bigint', (c) => c.notNull())
      .addColumn('deleted_at', 'bigint')
      .execute()
    // A deleted project frees its name immediately.
    await db.schema
      .createIndex('projects_name')
      .on('projects')
      .column('name')
      .unique()
      .where(sql.ref('deleted_at'), 'is', null)
      .execute()

    await db.schema
      .createTable('api_keys')
      .addColumn('project_id', 'text', (c) => c.notNull())
      .addColumn('id', 'text', (c) => c.notNull())
      .addColumn('name', 'text', (c) => c.notNull())
      .addColumn('app_id', 'text', (c) => c.notNull().unique())
      .addColumn('client_id', 'text', (c) => c.notNull().unique())
      .addColumn('secret_digest', bytes, (c) => c.notNull())
      .addColumn('secret_last4', 'text', (c) => c.notNull())
      .addColumn('previous_digest', bytes)
      .addColumn('previous_until', 'bigint')
      .addColumn('permissions', 'text', (c) => c.notNull())
      .addColumn('ip_whitelist', 'text', (c) => c.notNull())
      .addColumn('token_limit', 'bigint')
      .addColumn('credits', 'bigint', (c) => c.notNull())
      .addColumn('full_until', 'bigint')
      .addColumn('state', 'text', (c) => c.notNull())
      .addColumn('epoch', 'bigint', (c) => c.notNull())
      .addColumn('version', 'bigint', (c) => c.notNull())
      .addColumn('changed_at', 'bigint', (c) => c.notNull())
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('updated_at', 'bigint', (c) => c.notNull())
      .addColumn('regenerated_at', 'bigint')
      .addColumn('last_used_at', 'bigint')
      .addPrimaryKeyConstraint('api_keys_pk', ['project_id', 'id'])
      .execute()
    await db.schema.createIndex('api_keys_changed').on('api_keys').column('changed_at').execute()

    // The tokens of a project are adjacent in the primary key, which is enough to count and list them. Every further index
    // would cost another page write per issued token.
    const tokens = db.schema
      .createTable('tokens')
      .addColumn('project_id', 'text', (c) => c.notNull())
      .addColumn('digest', bytes, (c) => c.notNull())
      .addColumn('key_id', 'text', (c) => c.notNull())
      .addColumn('epoch', 'bigint', (c) => c.notNull())
      .addColumn('scope', 'text', (c) => c.notNull())
      .addColumn('expires_at', 'bigint', (c) => c.notNull())
      .addColumn('revoked_at', 'bigint')
      .addPrimaryKeyConstraint('tokens_pk', ['project_id', 'digest'])
    await (types.bytes === 'blob' ? tokens.modifyEnd(sql`without rowid`) : tokens).execute()
    // For the janitor, and for the latest issue time of the store.
    await db.schema.createIndex('tokens_expiry').on('tokens').column('expires_at').execute()
    await db.schema
      .createIndex('tokens_revoked')
      .on('tokens')
      .column('revoked_at')
      .where(sql.ref('revoked_at'), 'is not', null)
      .execute()

    await db.schema
      .createTable('audit_log')
      .addColumn('id', 'text', (c) => c.primaryKey().notNull())
      .addColumn('at', 'bigint', (c) => c.notNull())
      .addColumn('actor_type', 'text', (c) => c.notNull())
      .addColumn('actor_id', 'text', (c) => c.notNull())
      .addColumn('address', 'text')
      .addColumn('action', 'text', (c) => c.notNull())
      .addColumn('project_id', 'text')
      .addColumn('subject_type', 'text', (c) => c.notNull())
      .addColumn('subject_id', 'text', (c) => c.notNull())
      .addColumn('before', 'text')
      .addColumn('after', 'text')
      .addColumn('request_id', 'text')
      .execute()
    await db.schema.createIndex('audit_log_at').on('audit_log').columns(['at', 'id']).execute()
    await db.schema
      .createIndex('audit_log_project')
      .on('audit_log')
      .columns(['project_id', 'at', 'id'])
      .execute()

    await db.schema
      .createTable('refusals')
      .addColumn('request_id', 'text', (c) => c.primaryKey().notNull())
      .addColumn('project_id', 'text', (c) => c.notNull())
      .addColumn('at', 'bigint', (c) => c.notNull())
      .addColumn('method', 'text', (c) => c.notNull())
      .addColumn('path', 'text', (c) => c.notNull())
      .addColumn('status', 'bigint', (c) => c.notNull())
      .addColumn('key', 'text', (c) => c.notNull())
      .addColumn('step', 'text', (c) => c.notNull())
      .addColumn('key_id', 'text')
      .addColumn('address', 'text')
      .addColumn('socket_address', 'text', (c) => c.notNull())
      .addColumn('forwarded', 'text')
      .execute()
    await db.schema
      .createIndex('refusals_project')
      .on('refusals')
      .columns(['project_id', 'at', 'request_id'])
      .execute()
    await db.schema.createIndex('refusals_at').on('refusals').column('at').execute()
  },
}
