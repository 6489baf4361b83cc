import { type BackupHead, createBackup, type NewBackup } from '../platform/backup/index.ts'
import { type Database, migrationsIn, type Reader } from '../platform/database/index.ts'
import type { Progress } from '../platform/progress.ts'
import { StartFailure } from '../platform/start-failure.ts'
import { readTable, tablesOf } from './backup-tables.store.ts'
import { MIGRATIONS } from './migrations/index.ts'
import { VERSION } from './version.ts'

/**
 * Tokens live 15 minutes, sessions 12 hours, and a restore ends them all, so a backup need not contain their digests.
 * Processes are those that run now, and `key_state` is what they have read; a restore requires that none runs. Notices
 * belong to the installation that sent them.
 */
export const EXCLUDED_TABLES: readonly string[] = [
  'key_state',
  'login_codes',
  'notices',
  'processes',
  'sessions',
  'token_counts',
  'tokens',
]

/** Rows that are in memory at once. */
const PAGE_ROWS = 500

export interface BackupReport {
  readonly takenAt: string
  readonly tables: ReadonlyMap<string, number>
  readonly rows: number
  readonly bytes: number
  /** Ids of the keys that encrypted values in the backup. */
  readonly encryptionKeys: readonly string[]
}

interface Options {
  readonly file: string
  readonly now: number
  /** A step per table. */
  readonly progress?: Progress
  /** Stops the backup, which then throws the reason and leaves no file. */
  readonly signal?: AbortSignal
}

/** Writes a consistent snapshot of the store to one file, while the service keeps running. */
export async function backUp(db: Database, options: Options): Promise<BackupReport> {
  const { file, signal } = options
  const backup = await createBackup(file)
  try {
    return await db.snapshot((reader) => copy(db, reader, backup, options), signal)
  } catch (error) {
    await backup.abandon()
    throw signal?.aborted ? signal.reason : error
  }
}

async function copy(
  db: Database,
  reader: Reader,
  backup: NewBackup,
  { now, progress, signal }: Options,
): Promise<BackupReport> {
  const migrations = await knownMigrationsIn(db, reader)
  const head: BackupHead = {
    jeton_backup: 1,
    program: VERSION,
    taken_at: new Date(now).toISOString(),
    store: db.label,
    migrations: migrations.map(({ name }) => name),
  }
  await backup.head(head)
  const counts = new Map<string, number>()
  const tables = (await tablesOf(migrations)).filter(({ name }) => !EXCLUDED_TABLES.includes(name))
  progress?.plan(tables.length)
  for (const table of tables) {
    await backup.table({ table: table.name, columns: table.columns })
    counts.set(table.name, 0)
    progress?.begin(table.name)
    progress?.update(0)
    for await (const page of readTable(reader, table, PAGE_ROWS)) {
      signal?.throwIfAborted()
      await backup.rows(page)
      counts.set(table.name, counts.get(table.name)! + page.length)
      progress?.update(counts.get(table.name)!)
    }
    progress?.end()
  }
  signal?.throwIfAborted()
  return { takenAt: head.taken_at, tables: counts, ...(await backup.finish()) }
}

async function knownMigrationsIn(db: Database, reader: Reader) {
  const applied = await migrationsIn(reader)
  if (!applied) throw new StartFailure(`${db.label} is not a Jeton store. Nothing was written.`)
  const unknown = applied.filter((name) => !MIGRATIONS.some((known) => known.name === name))
  if (unknown.length > 0)
    throw new StartFailure(
      `This store was migrated by a newer Jeton (${unknown.at(-1)}); this is ${VERSION}. Use the newer version for backups.`,
    )
  return MIGRATIONS.filter(({ name }) => applied.includes(name))
}
