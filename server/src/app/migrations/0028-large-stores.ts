import { sql } from 'kysely'
import type { Migration } from '../../platform/database/index.ts'

/**
 * Indexes for stores with a million keys and a hundred thousand destinations. Lists, attention and background jobs used to
 * read all keys of a project or all destinations. Most of these indexes hold few rows: an index on rows that every request
 * updates would slow down requests.
 */
export const largeStores: Migration = {
  name: '0028-large-stores',
  async up(db) {
    const index = (name: string, table: string, columns: string[]) =>
      db.schema.createIndex(name).on(table).columns(columns)

    // Partial, so that no plan prefers them to the primary key for a lookup. `state` is last for lists of blocked keys.
    await index('api_keys_newest', 'api_keys', ['project_id', 'created_at', 'id', 'state'])
      .where(sql.ref('state'), '<>', sql.lit('deleted'))
      .execute()
    await index('api_keys_by_name', 'api_keys', ['project_id', 'name'])
      .where(sql.ref('state'), '<>', sql.lit('deleted'))
      .execute()
    await index('api_keys_deleted', 'api_keys', ['project_id', 'created_at', 'id'])
      .where(sql.ref('state'), '=', sql.lit('deleted'))
      .execute()
    await index('api_keys_in_grace', 'api_keys', ['previous_until'])
      .where(sql.ref('previous_until'), 'is not', null)
      .execute()

    await index('projects_newest', 'projects', ['created_at', 'id'])
      .where(sql.ref('deleted_at'), 'is', null)
      .execute()
    await index('projects_deleted', 'projects', ['deleted_at'])
      .where(sql.ref('deleted_at'), 'is not', null)
      .execute()

    await index('destinations_in_overlap', 'destinations', ['previous_until'])
      .where(sql.ref('previous_until'), 'is not', null)
      .execute()
    // Every start asks which encryption keys are needed.
    await db.schema
      .createIndex('destinations_by_key')
      .on('destinations')
      .expression(sql`substr(secret, 1, 12)`)
      .execute()
    await index('destinations_with_headers', 'destinations', ['project_id', 'id'])
      .where(sql.ref('headers'), '<>', sql.lit('{}'))
      .execute()
    await index('destinations_with_skips', 'destinations', ['project_id', 'id'])
      .where(sql.ref('skips'), '<>', sql.lit('[]'))
      .execute()
    await index('destinations_failing', 'destinations', ['failing_since'])
      .where(sql.ref('failing_since'), 'is not', null)
      .execute()
    await index('destinations_disabled', 'destinations', ['project_id', 'id'])
      .where(sql.ref('active'), '=', sql.lit(0))
      .execute()
  },
}
