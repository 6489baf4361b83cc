import { mkdirSync, readFileSync, renameSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Environment } from '../platform/config/index.ts'
import { StartFailure } from '../platform/start-failure.ts'
import { writePrivateFile } from './write-private-file.ts'

/** What the command line knows of a server. */
export interface Profile {
  readonly management_id: string
  readonly management_token: string
  /** Default project, id or name. */
  readonly project?: string | undefined
  /** A key pair for what API clients call; the first start keeps the sample's here. */
  readonly app?: { readonly url: string; readonly id: string; readonly token: string } | undefined
}

interface ProfileFile {
  /** Address of the server that commands go to. */
  readonly default?: string
  readonly servers: Readonly<Record<string, Profile>>
}

export const profilePath = (env: Environment = process.env): string =>
  join(env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'jeton', 'config.json')

/** `~/.config/jeton/config.json`, as a person would write it. */
export const shownProfilePath = (env: Environment = process.env): string =>
  profilePath(env).replace(homedir(), '~')

export function readProfiles(env: Environment = process.env): ProfileFile {
  try {
    const file = JSON.parse(readFileSync(profilePath(env), 'utf8')) as ProfileFile
    return { ...file, servers: file.servers ?? {} }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { servers: {} }
    const why = error instanceof SyntaxError ? 'it is not JSON' : (error as Error).message
    throw new StartFailure(
      `Cannot read ${shownProfilePath(env)}: ${why}. Mend it, or delete it and: jeton login`,
    )
  }
}

/** Keeps the credential of a server, and makes it the one that commands go to. */
export function saveProfile(url: string, profile: Profile, env: Environment = process.env): void {
  const file = readOrSetAside(env)
  const before = file.servers[url]
  const servers = {
    ...file.servers,
    [url]: { ...(before && { project: before.project, app: before.app }), ...profile },
  }
  write(env, { ...file, default: url, servers })
}

/** False where there is no profile of this server to keep it in. */
export function saveDefaultProject(url: string, project: string, env: Environment): boolean {
  const file = readProfiles(env)
  const before = file.servers[url]
  if (!before) return false
  write(env, { ...file, servers: { ...file.servers, [url]: { ...before, project } } })
  return true
}

/** A new secret of the key pair that is kept for a server. */
export function saveAppToken(url: string, token: string, env: Environment): void {
  const file = readProfiles(env)
  const before = file.servers[url]
  if (before?.app)
    write(env, { ...file, servers: { ...file.servers, [url]: { ...before, app: { ...before.app, token } } } })
}

/** A credential that is shown once must not be lost because the file was broken; nor is the broken file. */
function readOrSetAside(env: Environment): ProfileFile {
  try {
    return readProfiles(env)
  } catch {
    renameSync(profilePath(env), `${profilePath(env)}.broken`)
    return { servers: {} }
  }
}

function write(env: Environment, file: ProfileFile): void {
  const path = profilePath(env)
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  writePrivateFile(path, `${JSON.stringify(file, null, 2)}\n`)
}
