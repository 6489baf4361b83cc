/**
 * One interface to SQLite and PostgreSQL. Only this folder knows how they differ, except for three batches that are
 * implemented per engine: issuing tokens, fanning out events and claiming deliveries.
 */
export { compiledQuery } from './compiled-query.ts'
export { COUNT_TO, countUpTo } from './count.ts'
export type {
  Database,
  NotificationRelay,
  PostgresDatabase,
  Reader,
  SqlConnection,
  SqliteDatabase,
  Transaction,
} from './database.ts'
export { NotNullViolation, StoreNotWritable, StoreUnavailable, UniqueConflict } from './database.ts'
export { afterCursor, type KeysetRange, onPage, unindexed, withinTimes } from './keyset.ts'
export { withMetrics } from './metrics.ts'
export {
  type ColumnTypes,
  MIGRATION_TABLES,
  type Migration,
  type MigrationReport,
  migrate,
  migrateIn,
  migrationsIn,
  planMigrations,
} from './migrate.ts'
export { openDatabase } from './open-database.ts'
export { byKey, FORCE_KEY_LOOKUPS } from './postgres/planner-hints.ts'
export { cursorPageOf, pageOf, projectTable } from './project-table.ts'
export { sqliteFile, sqliteFileState } from './sqlite/open.ts'
export type { WriterContext } from './sqlite/thread.ts'
export { storeSize, storeVersion } from './store-facts.ts'
export { isPostgresInUse, isSqliteInUse } from './store-in-use.ts'
export { tableNames } from './table-names.ts'
