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

/** Next to the SQLite database, so that the service starts without settings. */
const FILE = 'encryption.key'

/** Repeated in the settings, the command line, the README and the guides. */
export const KEY_ADVICE = 'Keep a copy of the encryption key, apart from the backups of the database.'

export const encryptionKeyFile = (folder: string): string => join(folder, FILE)

/** Parses standard or URL-safe base64 of exactly 32 bytes; null otherwise. */
export function parseKey(text: string): Buffer | null {
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) return null
  const key = Buffer.from(text, 'base64')
  return key.length === KEY_BYTES ? key : null
}

/** Parses keys separated by commas, or by lines in the file. The first one encrypts. Returns null if one is invalid. */
export function parseKeys(text: string): Buffer[] | null {
  const keys = text.split(/[,\n]/).map((one) => parseKey(one.trim()))
  return keys.every((key) => key !== null) ? keys : null
}

export interface KeySource {
  /** JETON_ENCRYPTION_KEY. */
  readonly setting: string | undefined
  /** Folder of the SQLite database; undefined with PostgreSQL, whose processes may run on several machines. */
  readonly folder: string | undefined
}

/** Reads the keys of the setting, or else of the key file; empty if there is neither. Never writes. */
export function readEncryptionKeys({ setting, folder }: KeySource): readonly Buffer[] {
  if (setting !== undefined) return parseKeys(setting)!
  if (folder === undefined) return []
  const file = encryptionKeyFile(folder)
  if (!existsSync(file)) return []
  const keys = parseKeys(readKeyFile(file).trim())
  if (keys) return keys
  throw new StartFailure(
    `${file} does not contain 32 bytes in base64. Restore the original file: without it, stored webhook secrets cannot be decrypted.`,
  )
}

/** Creates the key file, or reads the one that another process has created meanwhile. */
export function makeEncryptionKey(random: RandomBytes, folder: string): readonly Buffer[] {
  makeFile(encryptionKeyFile(folder), random)
  return readEncryptionKeys({ setting: undefined, folder })
}

const NOT_OWNER = 0o077

/** Mode of the key file if others than its owner can access it; otherwise undefined. */
export function openModeOf(file: string): string | undefined {
  const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? 0
  return mode & NOT_OWNER ? (mode & 0o777).toString(8) : undefined
}

/** Restricts the key file to its owner. Returns false if we may not change it. */
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
      `Cannot read ${file} (${(error as NodeJS.ErrnoException).code}). The user who runs Jeton must own it.`,
    )
  }
}

/** Creates the file atomically without overwriting, so that two processes that start together use the same key. */
function makeFile(file: string, random: RandomBytes): void {
  const draft = `${file}.${process.pid}.${random(4).toString('hex')}`
  writeFileSync(draft, `${random(KEY_BYTES).toString('base64')}\n`, { mode: 0o600, flag: 'wx', flush: true })
  // The umask can only narrow the mode above; this makes it exact.
  chmodSync(draft, 0o600)
  try {
    linkOrCopy(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

/** Links the file, or copies it without overwriting on file systems without links. */
function linkOrCopy(draft: string, file: string): void {
  try {
    linkSync(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw error
    copyFileSync(draft, file, constants.COPYFILE_EXCL)
  }
}
