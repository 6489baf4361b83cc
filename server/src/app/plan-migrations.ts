import { type Database, type MigrationReport, planMigrations } from '../platform/database/index.ts'
import { MIGRATIONS } from './migrations/index.ts'
import { VERSION } from './version.ts'

/** The pending migrations of a store. */
export const planOf = (db: Database): Promise<MigrationReport> =>
  planMigrations(db, { migrations: MIGRATIONS, program: VERSION })
