import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { KEY_BYTES } from './encryption.ts'
import type { RandomBytes } from './secrets.ts'
import { StartFailure } from './start-failure.ts'

/** Beside the embedded database, so that it starts with nothing set. Whoever backs up the one must back up the other. */
const FILE = 'encryption.key'

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

interface Where {
  /** JETON_ENCRYPTION_KEY. */
  readonly setting: string | undefined
  /** Folder of the embedded database; undefined with PostgreSQL, whose processes may run on many machines. */
  readonly folder: string | undefined
}

/** The keys that the settings name, or those of the embedded store, made now if there is none; empty where it must be set. */
export function loadEncryptionKeys(random: RandomBytes, { setting, folder }: Where): readonly Buffer[] {
  if (setting !== undefined) return parseKeys(setting)!
  if (folder === undefined) return []
  const file = encryptionKeyFile(folder)
  if (!existsSync(file)) makeFile(file, random)
  const keys = parseKeys(readKeyFile(file).trim())
  if (keys) return keys
  throw new StartFailure(
    `${file} does not hold 32 bytes in base64. Put the right file back; without it stored webhook secrets cannot be read.`,
  )
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
