import { listNeededKeyIds } from '../features/webhooks/index.ts'
import type { Config } from '../platform/config/index.ts'
import type { Database, Reader } from '../platform/database/index.ts'
import { createVault, keyIdOf, type Vault } from '../platform/encryption.ts'
import {
  closeToOthers,
  encryptionKeyFile,
  type KeySource,
  makeEncryptionKey,
  openModeOf,
  readEncryptionKeys,
} from '../platform/encryption-key.ts'
import type { Log } from '../platform/log.ts'
import { randomBytes } from '../platform/secrets.ts'
import { StartFailure } from '../platform/start-failure.ts'

/** With PostgreSQL there is no key file: its processes run on many machines and share no folder. */
export const keyPlaceOf = (config: Config): KeySource => ({
  setting: config.JETON_ENCRYPTION_KEY,
  folder: config.JETON_DATABASE_URL === undefined ? config.JETON_DATA_DIR : undefined,
})

/** The keys of this store; empty where there is none and nothing stored needs one. Never writes. */
export async function readKeys(db: Reader, config: Config): Promise<readonly Buffer[]> {
  const place = keyPlaceOf(config)
  const keys = readEncryptionKeys(place)
  if (keys.length > 0) return keys
  const needed = await listNeededKeyIds(db)
  if (needed.length > 0) throw new StartFailure(keyMissing(place, needed))
  return []
}

/**
 * The same, with a key file made where nothing needs one yet. Never in place of a lost one: every delivery would fail, and
 * nobody would know that a copy of the right key has to be put back.
 */
async function openKeys(db: Reader, config: Config): Promise<readonly Buffer[]> {
  const keys = await readKeys(db, config)
  const { folder } = keyPlaceOf(config)
  return keys.length > 0 || folder === undefined ? keys : makeEncryptionKey(randomBytes, folder)
}

export async function openVault(db: Database, config: Config): Promise<Vault> {
  try {
    const [key, ...earlier] = await openKeys(db, config)
    return createVault(key, randomBytes, earlier)
  } catch (error) {
    await db.close()
    throw error
  }
}

/** The only way where no copy of a key is left. Without an overlap: the lost secret could not sign beside the new one. */
export const ROTATE_LOST = 'jeton webhook rotate <webhook> --overlap-seconds 0'

/** Says where the key belongs, and what to do if no copy of it exists. */
export function keyMissing({ folder }: KeySource, needed: readonly string[]): string {
  const file = folder && encryptionKeyFile(folder)
  const [what, remedy, renew] = file
    ? [
        `${file} is missing`,
        `Put your copy of it there, or set JETON_ENCRYPTION_KEY to its content.`,
        `openssl rand -base64 32 > ${file}`,
      ]
    : [
        'JETON_ENCRYPTION_KEY is not set',
        'Set it to the key that this store was used with.',
        'set a new one (openssl rand -base64 32)',
      ]
  return `${what}, and the store holds webhook secrets encrypted with the key ${needed.join(', ')}. ${remedy} If no copy is left: ${renew}, start, then for every webhook: ${ROTATE_LOST}`
}

/** Ids of keys that stored secrets need and this process does not have. */
export async function missingKeyIds(db: Reader, config: Config): Promise<string[]> {
  const present = readEncryptionKeys(keyPlaceOf(config)).map(keyIdOf)
  return (await listNeededKeyIds(db)).filter((id) => !present.includes(id))
}

/** Says at the start what is wrong with the key without stopping the service: tokens need no key. */
export function reportKeys(log: Log, config: Config, missing: readonly string[]): void {
  const { setting, folder } = keyPlaceOf(config)
  if (missing.length > 0)
    log.error(
      {
        missing_keys: missing,
        why: 'deliveries to webhooks whose secrets need them fail',
        do: `add the missing key behind the present one (${setting === undefined ? 'one a line in encryption.key' : 'JETON_ENCRYPTION_KEY, after a comma'}) and restart; or: ${ROTATE_LOST}`,
      },
      'the encryption key does not decrypt everything that is stored',
    )
  if (setting === undefined && folder === undefined)
    log.warn(
      {
        why: 'webhooks cannot be created, and no events are sent',
        do: 'set it for every process: openssl rand -base64 32',
      },
      'JETON_ENCRYPTION_KEY is not set',
    )
  if (setting === undefined && folder !== undefined) closeKeyFile(log, encryptionKeyFile(folder))
}

/** As the database file is closed when it is opened; but a key that others could read deserves a word. */
function closeKeyFile(log: Log, file: string): void {
  const mode = openModeOf(file)
  if (mode === undefined) return
  const closed = closeToOthers(file)
  log.warn(
    { file, mode, do: closed ? 'if someone else uses this machine, replace the key' : `chmod 600 ${file}` },
    closed
      ? 'the encryption key could be read by others; now only by its owner'
      : 'the encryption key can be read by others',
  )
}
