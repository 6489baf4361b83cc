import { resolve } from 'node:path'
import { keyPlaceOf, ROTATE_LOST } from '../app/encryption-keys.ts'
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

/** Makes the store that the settings name what it was when the backup was taken. The service must not run. */
export async function restoreStore(io: Io, typed: string, options: Options): Promise<void> {
  const config = readConfig(io.env)
  const file = resolve(typed)
  if (options.replace && !options.yes && !io.ask)
    throw wrongUsage('This replaces what is there and nobody can be asked here. Add --yes if you mean it.')
  const backup = await readable(() => checkBackup(file))
  const db = await openAlone(config)
  try {
    await confirm(io, db, options)
    await readable(() => restore(db, { file, replace: options.replace === true }))
    tell(io, backup, db)
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

/** One connection: whoever else has one is another program. */
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
    `${db.label} has ${filled.join(', ')}. All of it is lost. Type "replace" to go on: `,
  )
  if (answer !== 'replace') throw new CommandFailure('Nothing was changed.', EXIT.refused)
}

function tell(io: Io, { head, tail }: BackupFile, db: Database): void {
  printLine(io, `${tail.rows.toLocaleString('en')} rows restored into ${db.label}, as of ${head.taken_at}.`)
  remark(io, 'Every token is dead, whenever it was issued: API clients ask for new ones.')
  remark(
    io,
    'API keys are as they were then. What was blocked, deleted, regenerated or narrowed since is not: do it again before you start the service.',
  )
}

/** What is encrypted in it can be used with its own key only; without it webhooks have to be given new secrets. */
function warnOfKeys(io: Io, { tail }: BackupFile, config: Config): void {
  const place = keyPlaceOf(config)
  const present = readEncryptionKeys(place).map(keyIdOf)
  const needed = tail.encryption_keys.filter((id) => !present.includes(id))
  if (needed.length === 0) return
  const where =
    place.folder !== undefined && place.setting === undefined
      ? `put the file encryption.key of that time to ${encryptionKeyFile(place.folder)}`
      : 'set JETON_ENCRYPTION_KEY to the key of that time'
  const here = present.length > 0 ? `the one here is ${present.join(', ')}` : 'there is none here'
  remark(
    io,
    `Secrets of webhooks need the encryption key ${needed.join(', ')}; ${here}. Before you start the service, ${where}. If it is lost, use a new key, and afterwards for every webhook: ${ROTATE_LOST}`,
  )
}
