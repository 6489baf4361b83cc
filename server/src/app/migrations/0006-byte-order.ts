import { sql } from 'kysely'
import type { Migration } from '../../platform/database/index.ts'

interface Column {
  readonly table_name: string
  readonly column_name: string
}

/** All tables of Jeton so far. Other tables and views in the schema are not changed. */
const TABLES = [
  ...['jeton_migrations', 'jeton_store', 'operators', 'audit_log', 'refusals', 'idempotency_keys'],
  ...['projects', 'api_keys', 'tokens', 'events', 'destinations', 'deliveries', 'attempts', 'publications'],
  ...['campaigns', 'vouchers', 'customers', 'point_entries', 'products', 'rewards', 'reward_assignments'],
  ...['redemptions', 'reported_redemptions'],
]

/**
 * On PostgreSQL all text is compared by bytes, like on SQLite, and not by language: only ids and our own words are compared
 * and sorted, and an index with a language collation costs several times as much to maintain.
 */
export const byteOrder: Migration = {
  name: '0006-byte-order',
  async up(db, types) {
    if (types.bytes === 'blob') return
    const { rows } = await sql<Column>`select table_name, column_name from information_schema.columns
      where table_schema = current_schema() and table_name in (${sql.join(TABLES)}) and data_type = 'text' and collation_name is null
      order by table_name, ordinal_position`.execute(db)
    for (const [table, columns] of Map.groupBy(rows, ({ table_name }) => table_name)) {
      // All columns at once, because each statement rebuilds the indexes of the table.
      const changes = columns.map(
        ({ column_name }) => sql`alter column ${sql.id(column_name)} type text collate "C"`,
      )
      await sql`alter table ${sql.table(table)} ${sql.join(changes)}`.execute(db)
    }
  },
}
