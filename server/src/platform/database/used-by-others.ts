import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Database } from './database.ts'

/**
 * Whether another program has the store open, as far as one can tell. Ask it of PostgreSQL over a pool of one connection:
 * every other one of ours counts. Of SQLite before the database is opened.
 */
export async function postgresUsedByOthers(db: Database): Promise<boolean> {
  if (db.engine !== 'postgres') return false
  const rows = await db.runSql((connection) =>
    connection.send(`select 1 from pg_stat_activity
      where datname = current_database() and application_name = 'jeton' and pid <> pg_backend_pid() limit 1`),
  )
  return rows.length > 0
}

/** Only who is alone may leave the write-ahead log; opening the database goes back to it. */
export function sqliteUsedByOthers(folder: string): boolean {
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
