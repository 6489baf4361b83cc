import { invalidateAllTokens } from '../features/api-keys/index.ts'
import { recordChange } from '../features/audit/index.ts'
import { forgetAllCredits } from '../features/projects/index.ts'
import {
  type BackupFile,
  type BackupRow,
  type BackupTable,
  BackupUnreadable,
  readBackup,
} from '../platform/backup/index.ts'
import {
  type Database,
  isPostgresInUse,
  type Migration,
  migrateIn,
  type Reader,
  type Transaction,
} from '../platform/database/index.ts'
import type { Actor } from '../platform/http/index.ts'
import type { Progress } from '../platform/progress.ts'
import { randomBytes } from '../platform/secrets.ts'
import { EXIT, StartFailure } from '../platform/start-failure.ts'
import { EXCLUDED_TABLES } from './back-up.ts'
import { dropTables, filledTables, insertRows, type Table, tablesOf } from './backup-tables.store.ts'
import { MIGRATIONS } from './migrations/index.ts'
import { VERSION } from './version.ts'

const ACTOR: Actor = { type: 'system', id: 'command-line', address: null, requestId: null }

/** Far below the parameter limit of a statement, for any table. */
const ROWS_PER_STATEMENT = 100

/** Reads a file to its end, so that it is known to be complete, and checks that this version can restore it. */
export async function checkBackup(
  file: string,
  { progress, signal }: Pick<RestoreOptions, 'progress' | 'signal'> = {},
): Promise<BackupFile> {
  let rows = 0
  progress?.begin('check the file')
  const backup = await readBackup(file, () => {
    signal?.throwIfAborted()
    progress?.update(++rows)
    return undefined
  })
  const tables = new Map((await tablesOf(migrationsOf(backup))).map((table) => [table.name, table]))
  for (const shape of backup.shapes) {
    const { columns } = tables.get(shape.table) ?? {}
    if (JSON.stringify(shape.columns) !== JSON.stringify(columns))
      throw new BackupUnreadable(
        `Its Jeton version had no table ${JSON.stringify(shape.table)} with these columns. Nothing was changed.`,
      )
  }
  progress?.end()
  return backup
}

function migrationsOf({ head }: BackupFile): Migration[] {
  const unknown = head.migrations.filter((name) => !MIGRATIONS.some((known) => known.name === name))
  if (unknown.length > 0)
    throw new BackupUnreadable(
      `The backup requires Jeton ${head.program} or newer; this is ${VERSION}. Nothing was changed.`,
    )
  return MIGRATIONS.filter(({ name }) => head.migrations.includes(name))
}

/** Names of the tables whose rows a restore would replace; none for an empty or missing store. */
export async function contentsOf(reader: Reader): Promise<string[]> {
  const tables = await tablesOf(MIGRATIONS)
  return filledTables(
    reader,
    tables.filter(({ name }) => !EXCLUDED_TABLES.includes(name)),
  )
}

export const inUse = (label: string): StartFailure =>
  new StartFailure(
    `${label} is in use by a running Jeton. Stop every process first, then restore.`,
    EXIT.tryAgain,
  )

export interface RestoreOptions {
  readonly file: string
  /** The file as it was checked. */
  readonly backup: BackupFile
  readonly replace: boolean
  /** A step per table with rows, and one per migration since the backup. */
  readonly progress?: Progress
  /** Stops the restore, which then throws the reason and changes nothing. */
  readonly signal?: AbortSignal
}

/**
 * Restores the store to the state of the backup and migrates it, in one transaction. Tokens are not restored: all tokens
 * issued before or after the backup are invalid, because a key that was blocked after the backup is active in it.
 */
export async function restore(db: Database, options: RestoreOptions): Promise<void> {
  const { signal } = options
  if (await isPostgresInUse(db)) throw inUse(db.label)
  await db.transaction((tx) => load(tx, db, options), { noTimeout: true, signal })
}

async function load(tx: Transaction, db: Database, options: RestoreOptions): Promise<void> {
  const { backup, replace, progress } = options
  const filled = await contentsOf(tx)
  if (filled.length > 0 && !replace) throw notEmpty(db.label, filled)
  await dropTables(tx, await tablesOf(MIGRATIONS))
  const migrations = migrationsOf(backup)
  await migrateIn(tx, db.engine, { migrations, program: VERSION })
  const withRows = [...backup.tables.values()].filter((rows) => rows > 0)
  progress?.plan(withRows.length + MIGRATIONS.length - migrations.length)
  await loadRows(tx, options, await tablesOf(migrations))
  const planned = progress && { ...progress, plan: () => undefined }
  await migrateIn(tx, db.engine, { migrations: MIGRATIONS, program: VERSION, progress: planned })
  await invalidateAllTokens(tx)
  await forgetAllCredits(tx)
  await recordChange({ random: randomBytes }, tx, {
    actor: ACTOR,
    action: 'store.restored',
    projectId: null,
    subject: { type: 'store', id: 'store' },
    before: null,
    after: { taken_at: backup.head.taken_at, program: backup.head.program, rows: backup.tail.rows },
  })
}

export const notEmpty = (label: string, filled: readonly string[]): StartFailure =>
  new StartFailure(
    `${label} is not empty: it has ${filled.join(', ')}. Nothing was changed. Restore into an empty store, or pass --replace to overwrite this one.`,
    EXIT.refused,
  )

async function loadRows(
  tx: Transaction,
  { file, backup, progress }: RestoreOptions,
  tables: readonly Table[],
): Promise<void> {
  const byName = new Map(tables.map((table) => [table.name, table]))
  let batch: BackupRow[] = []
  let loading: BackupTable | undefined
  let loaded = 0
  const flush = async () => {
    const rows = batch
    batch = []
    await insertRows(tx, byName.get(loading!.table)!, rows)
    loaded += rows.length
    progress?.update(loaded, backup.tables.get(loading!.table))
  }
  const endTable = async () => {
    if (!loading) return
    await flush()
    progress?.end()
  }
  const beginTable = async (table: BackupTable) => {
    await endTable()
    loading = table
    loaded = 0
    progress?.begin(table.table)
  }
  await readBackup(file, (table, row) => {
    // No promise for most rows.
    if (loading === table && batch.length < ROWS_PER_STATEMENT) return void batch.push(row)
    return (loading === table ? flush() : beginTable(table)).then(() => void batch.push(row))
  })
  await endTable()
}
