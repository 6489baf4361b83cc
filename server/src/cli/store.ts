import { MIGRATIONS } from '../app/migrations/index.ts'
import { VERSION } from '../app/version.ts'
import { systemClock } from '../platform/clock.ts'
import type { Config } from '../platform/config/index.ts'
import {
  type Database,
  type MigrationReport,
  openDatabase,
  planMigrations,
  sqliteFile as sqliteFileIn,
  sqliteFileState,
} from '../platform/database/index.ts'
import { CommandFailure, EXIT } from './exit.ts'

export const sqliteFile = (config: Config): string => sqliteFileIn(config.JETON_DATA_DIR)

/** Looking at a store must not make one: opening SQLite would create folder and file, and fill an empty one. */
export const storeExists = (config: Config): boolean =>
  config.JETON_DATABASE_URL !== undefined ||
  !['none', 'empty'].includes(sqliteFileState(config.JETON_DATA_DIR))

export const noStore = (config: Config): CommandFailure =>
  new CommandFailure(`There is no store at ${sqliteFile(config)}. Check JETON_DATA_DIR.`, EXIT.configuration)

/** Opened to be looked at: not even its mode is changed. */
export const openExisting = (config: Config): Promise<Database> =>
  openDatabase(
    { clock: systemClock },
    {
      url: config.JETON_DATABASE_URL,
      pool: config.JETON_DATABASE_POOL,
      folder: config.JETON_DATA_DIR,
      inspect: true,
    },
  )

/** What a migration would do. */
export const planOf = (db: Database): Promise<MigrationReport> =>
  planMigrations(db, { migrations: MIGRATIONS, program: VERSION })

export const planForNew = (): MigrationReport => ({
  applied: MIGRATIONS.map(({ name }) => name),
  total: MIGRATIONS.length,
})
