import { existsSync, statSync } from 'node:fs'
import type { Config } from '../../platform/config/index.ts'
import { encryptionKeyFile } from '../../platform/encryption-key.ts'
import { type Finding, failed, warning, well } from './check.ts'

const NOT_OWNER = 0o077

/** What webhooks need: without the key their secrets can be neither stored nor read. */
export function checkEncryption(config: Config, production: boolean): Finding {
  if (config.JETON_ENCRYPTION_KEY !== undefined) return well('encryption', 'the key is set')
  return config.JETON_DATABASE_URL === undefined
    ? keyFile(encryptionKeyFile(config.JETON_DATA_DIR))
    : (production ? failed : warning)(
        'encryption',
        'JETON_ENCRYPTION_KEY is not set: webhooks cannot be created',
        'JETON_ENCRYPTION_KEY=$(openssl rand -base64 32)\nkept safe, and the same for every process',
      )
}

function keyFile(file: string): Finding {
  if (!existsSync(file)) return well('encryption', `${file} is not there yet; the first start makes it`)
  const mode = statSync(file).mode & 0o777
  if (mode & NOT_OWNER)
    return failed('encryption', `${file} can be read by others (${mode.toString(8)})`, `chmod 600 ${file}`)
  return well('encryption', `${file}, readable by you only; back it up with the database`)
}
