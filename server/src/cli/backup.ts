import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { type BackupReport, backUp } from '../app/back-up.ts'
import { type Config, readConfig } from '../platform/config/index.ts'
import { encryptionKeyFile, KEY_ADVICE } from '../platform/encryption-key.ts'
import { EXIT } from '../platform/start-failure.ts'
import { CommandFailure } from './exit.ts'
import { type Io, printLine, remark } from './io.ts'
import { noStore, openExisting, storeExists } from './store.ts'

/** Writes a backup of the store while the service runs. */
export async function backup(io: Io, typed: string, options: { json?: boolean }): Promise<void> {
  const config = readConfig(io.env)
  const file = resolve(typed)
  if (!storeExists(config)) throw noStore(config)
  refuseExisting(file)
  const db = await openExisting(config)
  try {
    const report = await backUp(db, { file, now: io.now(), onProgress: progress(io) })
    if (options.json)
      return printLine(io, JSON.stringify({ ...report, file, tables: Object.fromEntries(report.tables) }))
    printLine(io, file)
    printReport(io, report, config)
  } catch (error) {
    throw explained(error, file)
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

/** Progress of large tables, on stderr; stdout has only the name of the file. */
function progress(io: Io): (table: string, rows: number) => void {
  const STEP = 100_000
  let next = STEP
  return (table, rows) => {
    if (rows < STEP) next = STEP
    if (rows < next) return
    remark(io, `${table}: ${rows.toLocaleString('en')} rows so far`)
    next = rows + STEP
  }
}

function printReport(
  io: Io,
  { tables, rows, bytes, takenAt, encryptionKeys }: BackupReport,
  config: Config,
): void {
  const filled = [...tables].filter(([, count]) => count > 0)
  for (const [table, count] of filled) remark(io, `  ${table.padEnd(22)}${count.toLocaleString('en')}`)
  const size = bytes < 1_000_000 ? `${Math.ceil(bytes / 1000)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`
  remark(io, `${rows.toLocaleString('en')} rows, ${size}, as of ${takenAt}.`)
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
