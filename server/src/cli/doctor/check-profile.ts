import { existsSync, statSync } from 'node:fs'
import { type Finding, failed, ok } from '../../app/checks/finding.ts'
import type { Environment } from '../../platform/config/index.ts'
import { profilePath, shownProfilePath } from '../profile.ts'

const NOT_OWNER = 0o077

/** The profile has the token of an operator. */
export function checkProfile(env: Environment): Finding {
  const path = profilePath(env)
  const shown = shownProfilePath(env)
  if (!existsSync(path)) return ok('profile', `none yet (${shown}); jeton login creates one`)
  const mode = statSync(path).mode & 0o777
  if (mode & NOT_OWNER)
    return failed('profile', `${shown} is readable by others (${mode.toString(8)})`, `chmod 600 ${shown}`)
  return ok('profile', `${shown}, readable only by you`)
}
