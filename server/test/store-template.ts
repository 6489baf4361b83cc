import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MIGRATIONS } from '../src/app/migrations/index.ts'
import { VERSION } from '../src/app/version.ts'
import { systemClock } from '../src/platform/clock.ts'
import { migrate, openDatabase, sqliteFile } from '../src/platform/database/index.ts'
import { connectSql } from './sql.ts'

/** The PostgreSQL database that every migrated store is a copy of. */
export const MIGRATED_DATABASE = 'jeton_migrated'

async function migrateStore(where: { url: string | undefined; folder: string }): Promise<void> {
  const db = await openDatabase({ clock: systemClock }, { ...where, pool: 1 })
  await migrate(db, { migrations: MIGRATIONS, program: VERSION })
  await db.close()
}

/** Migrates once per run, so that a store of a test is a copy and runs no migration. */
export async function createPostgresTemplate(url: string): Promise<void> {
  const administrator = connectSql(url)
  await administrator.run(`create database ${MIGRATED_DATABASE}`)
  await migrateStore({ url: new URL(`/${MIGRATED_DATABASE}`, url).href, folder: '' })
  // A connection to a template makes `create database` fail.
  await administrator.run(`alter database ${MIGRATED_DATABASE} with is_template true allow_connections false`)
  await administrator.end()
}

export async function createSqliteTemplate(): Promise<{ file: string; remove: () => void }> {
  const folder = mkdtempSync(join(tmpdir(), 'jeton-sqlite-template-'))
  await migrateStore({ url: undefined, folder })
  return { file: sqliteFile(folder), remove: () => rmSync(folder, { recursive: true, force: true }) }
}
