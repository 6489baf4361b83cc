import { sql } from 'kysely'
import type { Migration } from '../../platform/database/index.ts'

interface Column {
  readonly table_name: string
  readonly column_name: string
}

/** All that there are by now: what else lies in the schema, as the views of an extension do, is not ours. */
const TABLES = [
  ...['jeton_migrations', 'jeton_store', 'operators', 'audit_log', 'refusals', 'idempotency_keys'],
  ...['projects', 'api_keys', 'tokens', 'events', 'destinations', 'deliveries', 'attempts', 'publications'],
  ...['campaigns', 'vouchers', 'customers', 'point_entries', 'products', 'rewards', 'reward_assignments'],
  ...['redemptions', 'reported_redemptions'],
]

/**
 * On PostgreSQL every text is compared by its bytes, as on SQLite, and not by the rules of a language: all that we compare
 * and sort are ids and words of our own, and an index in a language's order takes several times as long to keep.
 */
export const byteOrder: Migration = {
  name: '0006-byte-order',
  async up(db, types) {
    if (types.bytes === 'blob') return
    const { rows } = await sql<Column>`select table_name, column_name from information_schema.columns
      where table_schema = current_schema() and table_name in (${sql.join(TABLES)}) and data_type = 'text' and collation_name is null
      order by table_name, ordinal_position`.execute(db)
    for (const [table, columns] of Map.groupBy(rows, ({ table_name }) => table_name)) {
      // All at once: each statement builds the indexes of the table anew.
      const changes = columns.map(
        ({ column_name }) => sql`alter column ${sql.id(column_name)} type text collate "C"`,
      )
      await sql`alter table ${sql.table(table)} ${sql.join(changes)}`.execute(db)
    }
  },
}
