import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { MIGRATIONS } from '../app/migrations/index.ts'
import { VERSION } from '../app/version.ts'
import { systemClock } from '../platform/clock.ts'
import type { Config } from '../platform/config/index.ts'
import { type Database, type MigrationReport, migrate, openDatabase } from '../platform/database/index.ts'

export const sqliteFile = (config: Config): string => join(config.JETON_DATA_DIR, 'jeton.db')

/** Looking at a store must not make one: opening SQLite would create folder and file. */
export const storeExists = (config: Config): boolean =>
  config.JETON_DATABASE_URL !== undefined || existsSync(sqliteFile(config))

export const openExisting = (config: Config): Promise<Database> =>
  openDatabase(
    { clock: systemClock },
    { url: config.JETON_DATABASE_URL, pool: config.JETON_DATABASE_POOL, folder: config.JETON_DATA_DIR },
  )

/** What a migration would do; nothing of it is kept. */
export const planOf = (db: Database): Promise<MigrationReport> =>
  migrate(db, { migrations: MIGRATIONS, program: VERSION, plan: true })

export const planForNew = (): MigrationReport => ({
  applied: MIGRATIONS.map(({ name }) => name),
  total: MIGRATIONS.length,
})
