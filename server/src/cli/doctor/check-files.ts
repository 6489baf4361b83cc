import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Config, Environment } from '../../platform/config/index.ts'
import { profilePath, shownProfilePath } from '../profile.ts'
import { type Finding, failed, unknown, well } from './check.ts'

const OTHERS = 0o007
const NOT_OWNER = 0o077

const modeOf = (path: string): number => statSync(path).mode & 0o777

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}

const nearestExisting = (path: string): string => (existsSync(path) ? path : nearestExisting(dirname(path)))

/** The embedded database holds digests of credentials: only its owner should read it. */
export function checkDataFolder(config: Config, production: boolean): Finding[] {
  if (config.JETON_DATABASE_URL !== undefined) return []
  const folder = config.JETON_DATA_DIR
  const there = nearestExisting(folder)
  if (!isWritable(there))
    return [
      failed(
        'data folder',
        `${there} cannot be written`,
        `sudo chown $(id -u) ${there}\nor JETON_DATA_DIR=<another folder>`,
      ),
    ]
  if (there !== folder) {
    const notYet = production ? unknown : well
    return [notYet('data folder', `${folder} is not there yet; the first start makes it`)]
  }
  if (!statSync(folder).isDirectory())
    return [failed('data folder', `${folder} is not a folder`, 'JETON_DATA_DIR=<another folder>')]
  const mode = modeOf(folder)
  if (mode & OTHERS)
    return [
      failed(
        'data folder',
        `${folder} is open to every user of this machine (${mode.toString(8)})`,
        `chmod 700 ${folder}`,
      ),
    ]
  return [well('data folder', `${folder}, writable, closed to others`)]
}

/** The profile holds an operator's token. */
export function checkProfile(env: Environment): Finding {
  const path = profilePath(env)
  const shown = shownProfilePath(env)
  if (!existsSync(path)) return well('profile', `none yet (${shown}); jeton login makes one`)
  const mode = modeOf(path)
  if (mode & NOT_OWNER)
    return failed('profile', `${shown} can be read by others (${mode.toString(8)})`, `chmod 600 ${shown}`)
  return well('profile', `${shown}, readable by you only`)
}
