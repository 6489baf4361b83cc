import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Database } from './database.ts'

/** True if another process is connected to this PostgreSQL database. Open it with a pool of one, because our own count too. */
export async function isPostgresInUse(db: Database): Promise<boolean> {
  if (db.engine !== 'postgres') return false
  const rows = await db.withConnection((connection) =>
    connection.query(`select 1 from pg_stat_activity
      where datname = current_database() and application_name = 'jeton' and pid <> pg_backend_pid() limit 1`),
  )
  return rows.length > 0
}

/**
 * True if another process has this SQLite file open. Call it before opening the database: only a single connection can turn
 * the write-ahead log off, and opening the database turns it on again.
 */
export function isSqliteInUse(folder: string): boolean {
  const file = join(folder, 'jeton.db')
  if (!existsSync(file)) return false
  const database = new DatabaseSync(file, { timeout: 500 })
  try {
    database.exec('pragma journal_mode = delete')
    return false
  } catch (error) {
    if (/locked|busy/.test((error as Error).message)) return true
    throw error
  } finally {
    database.close()
  }
}
