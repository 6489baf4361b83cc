/**
 * The seam between the stores and two engines. What differs between SQLite and PostgreSQL is known here and nowhere
 * else, except for the batches that have one procedure per engine: issuing tokens, fanning out, sending.
 */
export { COUNT_TO, countUpTo } from './count.ts'
export type {
  Database,
  PostgresDatabase,
  Reader,
  SqlConnection,
  SqliteDatabase,
  Transaction,
  WakeRelay,
} from './database.ts'
export { NotNullViolation, StoreNotWritable, StoreUnavailable, UniqueConflict } from './database.ts'
export { measured } from './measured.ts'
export {
  type ColumnTypes,
  type Migration,
  type MigrationReport,
  migrate,
  migrateIn,
  migrationsIn,
  planMigrations,
} from './migrate.ts'
export { openDatabase } from './open-database.ts'
export { BY_KEY, byKey } from './postgres/by-key.ts'
export { behind, onPage, type Span, unindexed, withinTimes } from './span.ts'
export { sqliteFile, sqliteFileState } from './sqlite/open.ts'
export type { WriterContext } from './sqlite/worker-thread.ts'
export {
  type Column,
  dropTables,
  filledTables,
  insertRows,
  type Row,
  readTable,
  type Table,
  tablesOf,
} from './tables.ts'
export { postgresUsedByOthers, sqliteUsedByOthers } from './used-by-others.ts'
