import { keyMissing, keyPlaceOf, ROTATE_LOST } from '../../app/encryption-keys.ts'
import type { Config } from '../../platform/config/index.ts'
import { keyIdOf } from '../../platform/encryption.ts'
import {
  encryptionKeyFile,
  KEY_ADVICE,
  openModeOf,
  readEncryptionKeys,
} from '../../platform/encryption-key.ts'
import { type Finding, failed, unknown, warning, well } from './check.ts'

interface Circumstances {
  readonly production: boolean
  /** Ids of the keys that stored secrets need; undefined where the store could not be read. */
  readonly needed: readonly string[] | undefined
}

/** What webhooks need: without the key their secrets can be neither stored nor read. */
export function checkEncryption(config: Config, { production, needed }: Circumstances): Finding {
  const { setting, folder } = keyPlaceOf(config)
  try {
    const present = readEncryptionKeys({ setting, folder }).map(keyIdOf)
    if (present.length === 0) return withoutKey(config, { production, needed })
    const missing = (needed ?? []).filter((id) => !present.includes(id))
    if (missing.length > 0) return wrongKey(missing, present)
    return setting === undefined
      ? keyFile(encryptionKeyFile(folder!))
      : well('encryption', `JETON_ENCRYPTION_KEY is set. ${KEY_ADVICE}`)
  } catch (error) {
    return failed('encryption', (error as Error).message, `put your copy of it back`)
  }
}

function withoutKey(config: Config, { production, needed }: Circumstances): Finding {
  const { folder } = keyPlaceOf(config)
  const file = folder && encryptionKeyFile(folder)
  if (needed === undefined)
    return unknown(
      'encryption',
      `${file ? `${file} is not there` : 'JETON_ENCRYPTION_KEY is not set'}; whether the store needs it is unknown, since it could not be read`,
      'jeton doctor   (once the store can be read)',
    )
  if (needed.length > 0) {
    const [says, ...remedy] = keyMissing({ setting: undefined, folder }, needed).split(/(?<=\.) /)
    return failed('encryption', says!, remedy.join('\n'))
  }
  if (file) return well('encryption', `${file} is not there yet; the first start makes it. ${KEY_ADVICE}`)
  return (production ? failed : warning)(
    'encryption',
    'JETON_ENCRYPTION_KEY is not set: webhooks cannot be created',
    `JETON_ENCRYPTION_KEY=$(openssl rand -base64 32)\nthe same for every process. ${KEY_ADVICE}`,
  )
}

const wrongKey = (missing: readonly string[], present: readonly string[]): Finding =>
  failed(
    'encryption',
    `stored webhook secrets need the key ${missing.join(', ')}; this is ${present.join(', ')}`,
    `add the missing key behind the present one; or, if it is lost, for every webhook:\n${ROTATE_LOST}`,
  )

function keyFile(file: string): Finding {
  const mode = openModeOf(file)
  if (mode !== undefined)
    return failed('encryption', `${file} can be read by others (${mode})`, `chmod 600 ${file}`)
  return well('encryption', `${file}, readable by you only. ${KEY_ADVICE}`)
}
