import type { Migration } from '../../platform/database/index.ts'

/** Customers of one name are listed newest first, like every other list. */
export const customerNames: Migration = {
  name: '0026-customer-names',
  async up(db) {
    await db.schema.dropIndex('customers_name').execute()
    await db.schema
      .createIndex('customers_of_name')
      .on('customers')
      .columns(['project_id', 'name', 'created_at', 'id'])
      .execute()
  },
}
