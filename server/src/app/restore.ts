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
  migrate,
  migrateIn,
  type Reader,
  type Transaction,
} from '../platform/database/index.ts'
import type { Actor } from '../platform/http/index.ts'
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
export async function checkBackup(file: string): Promise<BackupFile> {
  const backup = await readBackup(file)
  const tables = new Map((await tablesOf(migrationsOf(backup))).map((table) => [table.name, table]))
  for (const shape of backup.shapes) {
    const { columns } = tables.get(shape.table) ?? {}
    if (JSON.stringify(shape.columns) !== JSON.stringify(columns))
      throw new BackupUnreadable(
        `Its Jeton version had no table ${JSON.stringify(shape.table)} with these columns. Nothing was changed.`,
      )
  }
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

/**
 * Restores the store to the state of the backup, in one transaction. Tokens are not restored: all tokens issued before or
 * after the backup are invalid, because a key that was blocked after the backup is active in it.
 */
export async function restore(
  db: Database,
  { file, replace }: { file: string; replace: boolean },
): Promise<BackupFile> {
  const backup = await checkBackup(file)
  if (await isPostgresInUse(db)) throw inUse(db.label)
  await db.transaction((tx) => load(tx, db, { file, backup, replace }), { noTimeout: true })
  // Applies the migrations since the backup.
  await migrate(db, { migrations: MIGRATIONS, program: VERSION })
  return backup
}

interface Loading {
  readonly file: string
  readonly backup: BackupFile
  readonly replace: boolean
}

async function load(tx: Transaction, db: Database, { file, backup, replace }: Loading): Promise<void> {
  const filled = await contentsOf(tx)
  if (filled.length > 0 && !replace) throw notEmpty(db.label, filled)
  await dropTables(tx, await tablesOf(MIGRATIONS))
  const migrations = migrationsOf(backup)
  await migrateIn(tx, db.engine, { migrations, program: VERSION })
  await loadRows(tx, file, await tablesOf(migrations))
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

async function loadRows(tx: Transaction, file: string, tables: readonly Table[]): Promise<void> {
  const byName = new Map(tables.map((table) => [table.name, table]))
  let rows: BackupRow[] = []
  let filling: BackupTable | undefined
  const flush = async () => {
    const batch = rows
    rows = []
    if (batch.length > 0) await insertRows(tx, byName.get(filling!.table)!, batch)
  }
  await readBackup(file, (table, row) => {
    const full = rows.length === ROWS_PER_STATEMENT || (filling !== undefined && filling !== table)
    if (!full) {
      filling = table
      rows.push(row)
      return undefined
    }
    return flush().then(() => {
      filling = table
      rows.push(row)
    })
  })
  await flush()
}
