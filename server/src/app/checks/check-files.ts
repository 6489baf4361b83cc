import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Config } from '../../platform/config/index.ts'
import { keyIdOf } from '../../platform/encryption.ts'
import {
  encryptionKeyFile,
  KEY_ADVICE,
  openModeOf,
  readEncryptionKeys,
} from '../../platform/encryption-key.ts'
import { keyMissing, keySourceOf, ROTATE_LOST } from '../encryption-keys.ts'
import { type Finding, failed, ok, unknown, warning } from './finding.ts'

const OTHERS = 0o007

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}

const nearestExisting = (path: string): string => (existsSync(path) ? path : nearestExisting(dirname(path)))

/** The SQLite file has digests of credentials, so only its owner should read it. */
export function checkDataFolder(config: Config, production: boolean): Finding[] {
  if (config.JETON_DATABASE_URL !== undefined) return []
  const folder = config.JETON_DATA_DIR
  const existing = nearestExisting(folder)
  if (!isWritable(existing))
    return [
      failed(
        'data folder',
        `${existing} is not writable`,
        `sudo chown $(id -u) ${existing}\nor JETON_DATA_DIR=<another directory>`,
      ),
    ]
  if (existing !== folder) {
    const notYet = production ? unknown : ok
    return [notYet('data folder', `${folder} does not exist yet; the first start creates it`)]
  }
  if (!statSync(folder).isDirectory())
    return [failed('data folder', `${folder} is not a directory`, 'JETON_DATA_DIR=<another directory>')]
  const mode = statSync(folder).mode & 0o777
  if (mode & OTHERS)
    return [
      failed(
        'data folder',
        `${folder} is accessible to every user of this machine (${mode.toString(8)})`,
        `chmod 700 ${folder}`,
      ),
    ]
  return [ok('data folder', `${folder}, writable, not accessible to others`)]
}

interface EncryptionContext {
  readonly production: boolean
  /** Ids of the keys that stored secrets require; undefined if the store cannot be read. */
  readonly needed: readonly string[] | undefined
}

/** Checks the key that webhook secrets are encrypted with. */
export function checkEncryption(config: Config, { production, needed }: EncryptionContext): Finding {
  const { setting, folder } = keySourceOf(config)
  try {
    const present = readEncryptionKeys({ setting, folder }).map(keyIdOf)
    if (present.length === 0) return withoutKey(config, { production, needed })
    const missing = (needed ?? []).filter((id) => !present.includes(id))
    if (missing.length > 0) return wrongKey(missing, present)
    return setting === undefined
      ? keyFile(encryptionKeyFile(folder!))
      : ok('encryption', `JETON_ENCRYPTION_KEY is set. ${KEY_ADVICE}`)
  } catch (error) {
    return failed('encryption', (error as Error).message, 'restore your copy of the key')
  }
}

function withoutKey(config: Config, { production, needed }: EncryptionContext): Finding {
  const { folder } = keySourceOf(config)
  const file = folder && encryptionKeyFile(folder)
  if (needed === undefined)
    return unknown(
      'encryption',
      `${file ? `${file} does not exist` : 'JETON_ENCRYPTION_KEY is not set'}; the store cannot be read, so it is unknown whether it requires the key`,
      'jeton doctor   (when the store can be read)',
    )
  if (needed.length > 0) {
    const [says, ...remedy] = keyMissing({ setting: undefined, folder }, needed).split(/(?<=\.) /)
    return failed('encryption', says!, remedy.join('\n'))
  }
  if (file) return ok('encryption', `${file} does not exist yet; the first start creates it. ${KEY_ADVICE}`)
  return (production ? failed : warning)(
    'encryption',
    'JETON_ENCRYPTION_KEY is not set: webhooks cannot be created',
    `JETON_ENCRYPTION_KEY=$(openssl rand -base64 32)\nthe same for every process. ${KEY_ADVICE}`,
  )
}

const wrongKey = (missing: readonly string[], present: readonly string[]): Finding =>
  failed(
    'encryption',
    `stored webhook secrets require the key ${missing.join(', ')}; the current key is ${present.join(', ')}`,
    `add the missing key after the current one; if it is lost, run for every webhook:\n${ROTATE_LOST}`,
  )

function keyFile(file: string): Finding {
  const mode = openModeOf(file)
  if (mode !== undefined)
    return failed('encryption', `${file} is readable by others (${mode})`, `chmod 600 ${file}`)
  return ok('encryption', `${file}, readable only by its owner. ${KEY_ADVICE}`)
}
