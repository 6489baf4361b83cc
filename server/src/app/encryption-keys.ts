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

/** PostgreSQL has no key file, because its processes run on several machines and share no folder. */
export const keySourceOf = (config: Config): KeySource => ({
  setting: config.JETON_ENCRYPTION_KEY,
  folder: config.JETON_DATABASE_URL === undefined ? config.JETON_DATA_DIR : undefined,
})

/** Reads the keys of this store; empty if there is none and nothing stored needs one. Never writes. */
export async function readKeys(db: Reader, config: Config): Promise<readonly Buffer[]> {
  const keySource = keySourceOf(config)
  const keys = readEncryptionKeys(keySource)
  if (keys.length > 0) return keys
  const needed = await listNeededKeyIds(db)
  if (needed.length > 0) throw new StartFailure(keyMissing(keySource, needed))
  return []
}

/**
 * Reads the keys, and creates a key file if nothing needs a key yet. It never replaces a lost key: every delivery would
 * fail, and nobody would know that a copy of the right key must be restored.
 */
async function openKeys(db: Reader, config: Config): Promise<readonly Buffer[]> {
  const keys = await readKeys(db, config)
  const { folder } = keySourceOf(config)
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

/** The only remedy if no copy of a key is left. No overlap, because the lost secret cannot sign. */
export const ROTATE_LOST = 'jeton webhook rotate <webhook> --overlap-seconds 0'

/** Explains where the key belongs, and what to do if no copy of it exists. */
export function keyMissing({ folder }: KeySource, needed: readonly string[]): string {
  const file = folder && encryptionKeyFile(folder)
  const [what, remedy, renew] = file
    ? [
        `${file} is missing`,
        `Restore your copy, or set JETON_ENCRYPTION_KEY to its content.`,
        `openssl rand -base64 32 > ${file}`,
      ]
    : [
        'JETON_ENCRYPTION_KEY is not set',
        'Set it to the key that this store was used with.',
        'set a new one (openssl rand -base64 32)',
      ]
  return `${what}, and the store contains webhook secrets encrypted with the key ${needed.join(', ')}. ${remedy} If no copy is left: ${renew}, start, then for every webhook: ${ROTATE_LOST}`
}

/** Ids of keys that stored secrets were encrypted with and that this process does not have. */
export async function missingKeyIds(db: Reader, config: Config): Promise<string[]> {
  const present = readEncryptionKeys(keySourceOf(config)).map(keyIdOf)
  return (await listNeededKeyIds(db)).filter((id) => !present.includes(id))
}

/** Logs problems with the key at the start without stopping the service, because tokens need no key. */
export function reportKeys(log: Log, config: Config, missing: readonly string[]): void {
  const { setting, folder } = keySourceOf(config)
  if (missing.length > 0)
    log.error(
      {
        missing_keys: missing,
        why: 'deliveries to webhooks with these secrets fail',
        do: `add the missing key after the current one (${setting === undefined ? 'one per line in encryption.key' : 'JETON_ENCRYPTION_KEY, after a comma'}) and restart; or: ${ROTATE_LOST}`,
      },
      'the encryption key cannot decrypt all stored secrets',
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

/** Restricts the key file to its owner, like the database file, and logs if others could read it. */
function closeKeyFile(log: Log, file: string): void {
  const mode = openModeOf(file)
  if (mode === undefined) return
  const closed = closeToOthers(file)
  log.warn(
    {
      file,
      mode,
      do: closed ? 'if other users have access to this machine, replace the key' : `chmod 600 ${file}`,
    },
    closed
      ? 'the encryption key was readable by others and is now restricted to its owner'
      : 'the encryption key is readable by others',
  )
}
