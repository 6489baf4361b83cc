import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { KEY_BYTES } from './encryption.ts'
import type { RandomBytes } from './secrets.ts'
import { StartFailure } from './start-failure.ts'

/** Beside the embedded database, so that the service starts with nothing set. */
const FILE = 'encryption.key'

/** The one advice about the key. The settings, the command line, the README and the guides repeat this sentence. */
export const KEY_ADVICE = 'Keep a copy of the encryption key, apart from the backups of the database.'

export const encryptionKeyFile = (folder: string): string => join(folder, FILE)

/** Standard or URL-safe base64 of exactly 32 bytes; null otherwise. */
export function parseKey(text: string): Buffer | null {
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) return null
  const key = Buffer.from(text, 'base64')
  return key.length === KEY_BYTES ? key : null
}

/** Several, separated by commas (in the file: one a line), while a key is replaced. The first one seals; null where one is none. */
export function parseKeys(text: string): Buffer[] | null {
  const keys = text.split(/[,\n]/).map((one) => parseKey(one.trim()))
  return keys.every((key) => key !== null) ? keys : null
}

export interface KeyPlace {
  /** JETON_ENCRYPTION_KEY. */
  readonly setting: string | undefined
  /** Folder of the embedded database; undefined with PostgreSQL, whose processes may run on many machines. */
  readonly folder: string | undefined
}

/** The keys of the setting, else those of the key file; empty where there is neither. Never writes. */
export function readEncryptionKeys({ setting, folder }: KeyPlace): readonly Buffer[] {
  if (setting !== undefined) return parseKeys(setting)!
  if (folder === undefined) return []
  const file = encryptionKeyFile(folder)
  if (!existsSync(file)) return []
  const keys = parseKeys(readKeyFile(file).trim())
  if (keys) return keys
  throw new StartFailure(
    `${file} does not hold 32 bytes in base64. Put the right file back; without it stored webhook secrets cannot be read.`,
  )
}

/** Makes the key file, or reads the one that another process has made in the meantime. */
export function makeEncryptionKey(random: RandomBytes, folder: string): readonly Buffer[] {
  makeFile(encryptionKeyFile(folder), random)
  return readEncryptionKeys({ setting: undefined, folder })
}

const NOT_OWNER = 0o077

/** The mode of the key file where others than its owner can read or write it, else undefined. */
export function openModeOf(file: string): string | undefined {
  const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? 0
  return mode & NOT_OWNER ? (mode & 0o777).toString(8) : undefined
}

/** Closes the key file to others; false where it is not ours to change. */
export function closeToOthers(file: string): boolean {
  try {
    chmodSync(file, 0o600)
    return true
  } catch {
    return false
  }
}

function readKeyFile(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new StartFailure(
      `Cannot read ${file} (${(error as NodeJS.ErrnoException).code}). It must be yours.`,
    )
  }
}

/** Whole or not at all, and never over another's: of two processes that start together both read the same key. */
function makeFile(file: string, random: RandomBytes): void {
  const draft = `${file}.${process.pid}.${random(4).toString('hex')}`
  writeFileSync(draft, `${random(KEY_BYTES).toString('base64')}\n`, { mode: 0o600, flag: 'wx', flush: true })
  // The mode above is narrowed, never widened, by the umask; this makes it exact.
  chmodSync(draft, 0o600)
  try {
    placeOnce(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

/** Some file systems know no links; there a copy that never overwrites is the next best. */
function placeOnce(draft: string, file: string): void {
  try {
    linkSync(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw error
    copyFileSync(draft, file, constants.COPYFILE_EXCL)
  }
}
