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
import { LEFT_OUT } from './back-up.ts'
import { dropTables, filledTables, insertRows, type Table, tablesOf } from './backup-tables.store.ts'
import { MIGRATIONS } from './migrations/index.ts'
import { VERSION } from './version.ts'

const ACTOR: Actor = { type: 'system', id: 'command-line', address: null, requestId: null }

/** Far below the number of parameters that a statement may have, whatever the table. */
const ROWS_AT_ONCE = 100

/** A file that was read to its end, so it is whole, and which this version knows how to restore. */
export async function checkBackup(file: string): Promise<BackupFile> {
  const backup = await readBackup(file)
  const tables = new Map((await tablesOf(migrationsOf(backup))).map((table) => [table.name, table]))
  for (const shape of backup.shapes) {
    const { columns } = tables.get(shape.table) ?? {}
    if (JSON.stringify(shape.columns) !== JSON.stringify(columns))
      throw new BackupUnreadable(
        `Its version had no table ${JSON.stringify(shape.table)} with these columns. Nothing was changed.`,
      )
  }
  return backup
}

function migrationsOf({ head }: BackupFile): Migration[] {
  const unknown = head.migrations.filter((name) => !MIGRATIONS.some((known) => known.name === name))
  if (unknown.length > 0)
    throw new BackupUnreadable(
      `It was made by Jeton ${head.program} and needs it or a newer one; this is ${VERSION}. Nothing was changed.`,
    )
  return MIGRATIONS.filter(({ name }) => head.migrations.includes(name))
}

/** Names the tables that hold something a restore would lose; none in a store that is empty, or not there at all. */
export async function contentsOf(reader: Reader): Promise<string[]> {
  const tables = await tablesOf(MIGRATIONS)
  return filledTables(
    reader,
    tables.filter(({ name }) => !LEFT_OUT.includes(name)),
  )
}

export const inUse = (label: string): StartFailure =>
  new StartFailure(
    `${label} is in use by a running Jeton. Stop every process first, then restore.`,
    EXIT.tryAgain,
  )

/**
 * Makes the store what it was when the file was written, in one transaction: all of it or nothing. No token comes back:
 * whatever was issued before the backup or since is dead, since a key that was blocked after the backup is active in it.
 */
export async function restore(
  db: Database,
  { file, replace }: { file: string; replace: boolean },
): Promise<BackupFile> {
  const backup = await checkBackup(file)
  if (await isPostgresInUse(db)) throw inUse(db.label)
  await db.transaction((tx) => load(tx, db, { file, backup, replace }), { noTimeout: true })
  // What has been added to the schema since the backup.
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
    `${label} is not empty: it has ${filled.join(', ')}. Nothing was changed. Restore into an empty store, or add --replace to lose what is there.`,
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
    const full = rows.length === ROWS_AT_ONCE || (filling !== undefined && filling !== table)
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
