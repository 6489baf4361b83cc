import { sql } from 'kysely'
import type { Database } from './database.ts'

/** Version of the engine: `18.1`, `3.50.4`. */
export async function storeVersion(db: Database): Promise<string> {
  if (db.engine === 'sqlite') return process.versions.sqlite!
  return db.withConnection(async (pg) => String((await pg.query('show server_version'))[0]!.server_version))
}

/** Size in bytes; on PostgreSQL that of the whole database, including tables of other programs. */
export async function storeSize(db: Database): Promise<number> {
  const size =
    db.engine === 'sqlite'
      ? sql<{
          bytes: number
        }>`select page_count * page_size as bytes from pragma_page_count(), pragma_page_size()`
      : sql<{ bytes: number }>`select pg_database_size(current_database()) as bytes`
  const { rows } = await size.execute(db.read<never>() as never)
  return Number(rows[0]!.bytes)
}
