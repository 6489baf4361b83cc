import { resolve } from 'node:path'
import { keySourceOf, ROTATE_LOST } from '../app/encryption-keys.ts'
import { checkBackup, contentsOf, inUse, notEmpty, restore } from '../app/restore.ts'
import { type BackupFile, BackupUnreadable } from '../platform/backup/index.ts'
import { systemClock } from '../platform/clock.ts'
import { type Config, readConfig } from '../platform/config/index.ts'
import { type Database, isSqliteInUse, openDatabase } from '../platform/database/index.ts'
import { keyIdOf } from '../platform/encryption.ts'
import { encryptionKeyFile, readEncryptionKeys } from '../platform/encryption-key.ts'
import { EXIT } from '../platform/start-failure.ts'
import { CommandFailure, wrongUsage } from './exit.ts'
import { type Io, printLine, remark } from './io.ts'

interface Options {
  readonly replace?: boolean
  readonly yes?: boolean
}

/** Restores a backup into the store. The service must be stopped. */
export async function restoreStore(io: Io, typed: string, options: Options): Promise<void> {
  const config = readConfig(io.env)
  const file = resolve(typed)
  if (options.replace && !options.yes && !io.ask)
    throw wrongUsage('Refusing to replace data without confirmation (no terminal). Pass --yes.')
  const backup = await readable(() => checkBackup(file))
  const db = await openAlone(config)
  try {
    await confirm(io, db, options)
    await readable(() => restore(db, { file, replace: options.replace === true }))
    printReport(io, backup, db)
    warnOfKeys(io, backup, config)
  } finally {
    await db.close()
  }
}

async function readable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof BackupUnreadable) throw new CommandFailure(error.message, EXIT.refused)
    throw error
  }
}

/** Opens a single connection, so that any other connection belongs to another program. */
async function openAlone(config: Config): Promise<Database> {
  const { JETON_DATABASE_URL: url, JETON_DATA_DIR: folder } = config
  if (url === undefined && isSqliteInUse(folder)) throw inUse(`SQLite ${folder}`)
  return openDatabase({ clock: systemClock }, { url, pool: 1, folder })
}

async function confirm(io: Io, db: Database, { replace, yes }: Options): Promise<void> {
  const filled = await contentsOf(db)
  if (filled.length === 0) return
  if (!replace) throw notEmpty(db.label, filled)
  if (yes) return
  const answer = await io.ask!(
    `${db.label} has ${filled.join(', ')}. All of it will be lost. Type "replace" to confirm: `,
  )
  if (answer !== 'replace') throw new CommandFailure('Nothing was changed.', EXIT.refused)
}

function printReport(io: Io, { head, tail }: BackupFile, db: Database): void {
  printLine(io, `${tail.rows.toLocaleString('en')} rows restored into ${db.label}, as of ${head.taken_at}.`)
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
