import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { type BackupReport, backUp } from '../app/back-up.ts'
import { keySourceOf, ROTATE_LOST } from '../app/encryption-keys.ts'
import { checkBackup, contentsOf, inUse, notEmpty, restore } from '../app/restore.ts'
import { type BackupFile, BackupUnreadable } from '../platform/backup/index.ts'
import { systemClock } from '../platform/clock.ts'
import { type Config, readConfig } from '../platform/config/index.ts'
import { type Database, isSqliteInUse, openDatabase } from '../platform/database/index.ts'
import { keyIdOf } from '../platform/encryption.ts'
import { encryptionKeyFile, KEY_ADVICE, readEncryptionKeys } from '../platform/encryption-key.ts'
import type { Progress } from '../platform/progress.ts'
import { EXIT } from '../platform/start-failure.ts'
import { CommandFailure, wrongUsage } from './exit.ts'
import { type Io, printLine, remark } from './io.ts'
import { explainStop, rowsText, showProgress } from './progress.ts'
import { noStore, openExisting, storeExists } from './store.ts'

/** Writes a backup of the store while the service runs. */
export async function backup(io: Io, typed: string, options: { json?: boolean }): Promise<void> {
  const config = readConfig(io.env)
  const file = resolve(typed)
  if (!storeExists(config)) throw noStore(config)
  refuseExisting(file)
  const db = await openExisting(config)
  const { stopped } = io.goLive()
  const progress = showProgress(io)
  try {
    const report = await backUp(db, { file, now: io.now(), progress, signal: stopped })
    if (options.json)
      return printLine(io, JSON.stringify({ ...report, file, tables: Object.fromEntries(report.tables) }))
    printLine(io, file)
    printReport(io, report, config)
  } catch (error) {
    progress.fail()
    throw explainStop(explained(error, file), stopped, 'Stopped. No file was written.')
  } finally {
    await db.close()
  }
}

function refuseExisting(file: string): void {
  for (const path of [file, `${file}.part`])
    if (existsSync(path))
      throw new CommandFailure(
        `${path} already exists${path === file ? '' : ': another backup is running or was interrupted'}. Nothing was written. Choose another name, or delete it.`,
        EXIT.refused,
      )
}

function explained(error: unknown, file: string): unknown {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ENOENT')
    return new CommandFailure(`No such directory: ${dirname(file)}. No file was written.`, EXIT.configuration)
  if (code === 'EACCES' || code === 'ENOSPC' || code === 'EFBIG' || code === 'EROFS')
    return new CommandFailure(`Cannot write ${file} (${code}). No file was written.`, EXIT.configuration)
  return error
}

/** On stderr; stdout has only the name of the file. */
function printReport(io: Io, { rows, bytes, takenAt, encryptionKeys }: BackupReport, config: Config): void {
  const size = bytes < 1_000_000 ? `${Math.ceil(bytes / 1000)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`
  remark(io, `${rowsText(rows)}, ${size}, as of ${takenAt}.`)
  remark(io, 'It contains no tokens: they are valid for 15 minutes, and a restore invalidates all of them.')
  if (encryptionKeys.length > 0)
    remark(
      io,
      `Its webhook secrets require the encryption key ${encryptionKeys.join(', ')}, which is not in the backup but in ${keyLocation(config)}. ${KEY_ADVICE}`,
    )
}

const keyLocation = (config: Config): string =>
  config.JETON_ENCRYPTION_KEY === undefined && config.JETON_DATABASE_URL === undefined
    ? encryptionKeyFile(config.JETON_DATA_DIR)
    : 'JETON_ENCRYPTION_KEY'

interface RestoreOptions {
  readonly replace?: boolean
  readonly yes?: boolean
}

/** Restores a backup into the store. The service must be stopped. */
export async function restoreStore(io: Io, typed: string, options: RestoreOptions): Promise<void> {
  if (options.replace && !options.yes && !io.ask)
    throw wrongUsage('Refusing to replace data without confirmation (no terminal). Pass --yes.')
  const progress = showProgress(io)
  const { stopped: signal } = io.goLive()
  try {
    await checkAndRestore(io, { ...options, file: resolve(typed), progress, signal })
  } catch (error) {
    progress.fail()
    if (error instanceof BackupUnreadable) throw new CommandFailure(error.message, EXIT.refused)
    throw explainStop(
      error,
      signal,
      'Stopped. Nothing was changed. To restore it, run the same command again.',
    )
  }
}

interface Restoring extends RestoreOptions {
  readonly file: string
  readonly progress: Progress
  readonly signal: AbortSignal
}

async function checkAndRestore(io: Io, restoring: Restoring): Promise<void> {
  const config = readConfig(io.env)
  const { file, progress, signal, replace = false } = restoring
  const backup = await checkBackup(file, { progress, signal })
  const db = await openAlone(config)
  try {
    await confirm(io, db, restoring)
    signal.throwIfAborted()
    await restore(db, { file, backup, replace, progress, signal })
    printRestored(io, backup, db)
    warnOfKeys(io, backup, config)
  } finally {
    await db.close()
  }
}

/** Opens a single connection, so that any other connection belongs to another program. */
async function openAlone(config: Config): Promise<Database> {
  const { JETON_DATABASE_URL: url, JETON_DATA_DIR: folder } = config
  if (url === undefined && isSqliteInUse(folder)) throw inUse(`SQLite ${folder}`)
  return openDatabase({ clock: systemClock }, { url, pool: 1, folder })
}

async function confirm(io: Io, db: Database, { replace, yes, signal }: Restoring): Promise<void> {
  const filled = await contentsOf(db)
  if (filled.length === 0) return
  if (!replace) throw notEmpty(db.label, filled)
  if (yes) return
  const question = `${db.label} has ${filled.join(', ')}. All of it will be lost. Type "replace" to confirm: `
  // Without an answer, a signal counts as "no".
  const answer = await Promise.race([io.ask!(question), once(signal, 'abort').then(() => '')])
  if (answer !== 'replace') throw new CommandFailure('Nothing was changed.', EXIT.refused)
}

function printRestored(io: Io, { head, tail }: BackupFile, db: Database): void {
  printLine(io, `${rowsText(tail.rows)} restored into ${db.label}, as of ${head.taken_at}.`)
  remark(io, 'All tokens have stopped working. API clients must request new ones.')
  remark(
    io,
    'API keys are as they were at that time. Keys that were blocked, deleted, regenerated or narrowed since then are not: repeat that before you start the service.',
  )
}

/** Warns if the encryption key of the backup is missing. Without it, webhooks need new secrets. */
function warnOfKeys(io: Io, { tail }: BackupFile, config: Config): void {
  const keySource = keySourceOf(config)
  const present = readEncryptionKeys(keySource).map(keyIdOf)
  const needed = tail.encryption_keys.filter((id) => !present.includes(id))
  if (needed.length === 0) return
  const where =
    keySource.folder !== undefined && keySource.setting === undefined
      ? `restore the encryption.key of that time to ${encryptionKeyFile(keySource.folder)}`
      : 'set JETON_ENCRYPTION_KEY to the key of that time'
  const here = present.length > 0 ? `the current key is ${present.join(', ')}` : 'no key is set'
  remark(
    io,
    `Webhook secrets require the encryption key ${needed.join(', ')}; ${here}. Before you start the service, ${where}. If it is lost, use a new key, and then for every webhook: ${ROTATE_LOST}`,
  )
}
