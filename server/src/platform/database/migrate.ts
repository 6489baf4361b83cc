import { type Kysely, sql } from 'kysely'
import type { Progress } from '../progress.ts'
import { StartFailure } from '../start-failure.ts'
import type { Database, Reader, Transaction } from './database.ts'
import { tableNames } from './table-names.ts'

/** Column types that differ between the engines. */
export interface ColumnTypes {
  readonly bytes: 'blob' | 'bytea'
}

export interface Migration {
  /** `0001-foundation`: sorts in the order of application. */
  readonly name: string
  /**
   * Oldest version of Jeton that can use the store afterwards. Omitted by additive migrations, so that an old and a new
   * version can run side by side during an upgrade.
   */
  readonly oldestProgram?: string
  up(schema: Kysely<unknown>, types: ColumnTypes): Promise<void>
}

interface MigrationTables {
  jeton_migrations: { name: string; applied_at: number }
  jeton_store: { id: number; oldest_program: string }
}

export interface MigrationReport {
  readonly applied: readonly string[]
  readonly total: number
}

/** Any number, as long as every process uses the same. */
const ADVISORY_LOCK = 7_353_866

const asNumber = (version: string): number => {
  const [major = 0, minor = 0, patch = 0] = version.split('-')[0]!.split('.').map(Number)
  return (major * 1000 + minor) * 1000 + patch
}

async function prepare(tx: Transaction, engine: Database['engine']): Promise<void> {
  const db = tx.write<MigrationTables>()
  if (engine === 'postgres') {
    // Not `create … if not exists` before the lock: two of them at once can collide in the catalog.
    await sql`set local statement_timeout = 0`.execute(db)
    await sql`set local lock_timeout = 0`.execute(db)
    await sql`select pg_advisory_xact_lock(${sql.lit(ADVISORY_LOCK)})`.execute(db)
    const { rows } = await sql<{
      there: boolean
    }>`select to_regproc('jeton_now') is not null as there`.execute(db)
    if (!rows[0]!.there)
      await sql`create function jeton_now() returns bigint language sql as
      'select (extract(epoch from clock_timestamp()) * 1000)::bigint'`.execute(db)
  }
  await db.schema
    .createTable('jeton_migrations')
    .ifNotExists()
    .addColumn('name', 'text', (c) => c.primaryKey().notNull())
    .addColumn('applied_at', 'bigint', (c) => c.notNull())
    .execute()
  await db.schema
    .createTable('jeton_store')
    .ifNotExists()
    .addColumn('id', 'bigint', (c) => c.primaryKey().notNull())
    .addColumn('oldest_program', 'text', (c) => c.notNull())
    .execute()
}

async function oldestProgramOf(reader: Reader): Promise<string> {
  const store = await reader.read<MigrationTables>().selectFrom('jeton_store').selectAll().executeTakeFirst()
  return store?.oldest_program ?? '0.0.0'
}

async function refuseIfTooOld(reader: Reader, program: string): Promise<void> {
  const oldest = await oldestProgramOf(reader)
  if (asNumber(program) < asNumber(oldest))
    throw new StartFailure(
      `This store needs Jeton ${oldest} or newer; this is ${program}. Nothing was changed. Start the newer version.`,
    )
}

const missingFrom = (migrations: readonly Migration[], done: readonly string[]): Migration[] =>
  migrations.filter(({ name }) => !done.includes(name))

async function apply(tx: Transaction, migration: Migration, types: ColumnTypes): Promise<void> {
  const db = tx.write<MigrationTables>()
  await migration.up(db as never, types)
  await db
    .insertInto('jeton_migrations')
    .values({ name: migration.name, applied_at: await tx.now() })
    .execute()
  if (migration.oldestProgram) await raiseOldestProgram(tx, migration.oldestProgram)
}

/** Never lowered: a later migration cannot make the store compatible again. */
async function raiseOldestProgram(tx: Transaction, oldest_program: string): Promise<void> {
  if (asNumber(oldest_program) <= asNumber(await oldestProgramOf(tx))) return
  await tx
    .write<MigrationTables>()
    .insertInto('jeton_store')
    .values({ id: 1, oldest_program })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ oldest_program }))
    .execute()
}

interface MigrateOptions {
  readonly migrations: readonly Migration[]
  readonly program: string
  /** A step per migration. */
  readonly progress?: Progress | undefined
}

/** Brings the store up to date in an open transaction. Returns the names of the applied migrations. */
export async function migrateIn(
  tx: Transaction,
  engine: Database['engine'],
  { migrations, program, progress }: MigrateOptions,
): Promise<string[]> {
  const types: ColumnTypes = { bytes: engine === 'sqlite' ? 'blob' : 'bytea' }
  await prepare(tx, engine)
  await refuseIfTooOld(tx, program)
  const pending = missingFrom(migrations, await appliedIn(tx))
  progress?.plan(pending.length)
  for (const migration of pending) {
    progress?.begin(migration.name)
    await apply(tx, migration, types)
    progress?.end()
  }
  return pending.map((migration) => migration.name)
}

/**
 * Brings the store up to date in one transaction under one lock. If ten processes start together, one migrates and the
 * others find nothing to do. A failure changes nothing, and neither does a signal that aborts.
 */
export async function migrate(
  db: Database,
  options: MigrateOptions & { readonly signal?: AbortSignal },
): Promise<MigrationReport> {
  const { signal } = options
  const applied = await db.transaction((tx) => migrateIn(tx, db.engine, options), { noTimeout: true, signal })
  return { applied, total: options.migrations.length }
}

/** Lists what `migrate` would apply. Only reads, so it also works on a store that is read-only. */
export async function planMigrations(
  reader: Reader,
  { migrations, program }: MigrateOptions,
): Promise<MigrationReport> {
  const done = await migrationsIn(reader)
  if (done) await refuseIfTooOld(reader, program)
  const applied = missingFrom(migrations, done ?? []).map(({ name }) => name)
  return { applied, total: migrations.length }
}

async function appliedIn(reader: Reader): Promise<string[]> {
  const rows = await reader
    .read<MigrationTables>()
    .selectFrom('jeton_migrations')
    .select('name')
    .orderBy('name')
    .execute()
  return rows.map(({ name }) => name)
}

/** Lists the applied migrations; undefined if the database is not a Jeton store. */
export const migrationsIn = async (reader: Reader): Promise<string[] | undefined> =>
  (await tableNames(reader)).has('jeton_migrations') ? appliedIn(reader) : undefined

/** Tables that this file maintains. */
export const MIGRATION_TABLES: readonly (keyof MigrationTables)[] = ['jeton_migrations', 'jeton_store']
