import { sql } from 'kysely'
import type { Migration } from '../../platform/database/index.ts'

/**
 * Gives operators a role and, unless they may use all, the ids of their projects as JSON. Operators that exist could do
 * everything, so they become admins. A row that names no role is one of a viewer.
 */
export const operatorRoles: Migration = {
  name: '0017-operator-roles',
  async up(db, types) {
    const text = types.bytes === 'blob' ? 'text' : sql`text collate "C"`
    await db.schema
      .alterTable('operators')
      .addColumn('role', text, (c) => c.notNull().defaultTo('viewer'))
      .execute()
    await db.schema.alterTable('operators').addColumn('projects', text).execute()
    await sql`update operators set role = 'admin'`.execute(db)
  },
}
