import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Environment } from '../platform/config/index.ts'
import { StartFailure } from '../platform/start-failure.ts'

/** A key pair for commands that call as an API client. */
export interface SavedKey {
  readonly app_id: string
  readonly app_token: string
}

/** The saved data of a server. */
export interface Profile {
  readonly management_id: string
  readonly management_token: string
  /** Default project, id or name. */
  readonly project?: string | undefined
  /** Address for API clients, where it differs from the one for operators. */
  readonly api_url?: string | undefined
  /** By project id, so that `project use` selects the key as well. The first start saves the key of the sample. */
  readonly keys?: Readonly<Record<string, SavedKey>> | undefined
}

interface ProfileFile {
  /** Address of the server that commands go to. */
  readonly default?: string
  readonly servers: Readonly<Record<string, Profile>>
}

export const profilePath = (env: Environment = process.env): string =>
  join(env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'jeton', 'config.json')

/** The path with `~` for the home directory. */
export const shownProfilePath = (env: Environment = process.env): string =>
  profilePath(env).replace(homedir(), '~')

export function readProfiles(env: Environment = process.env): ProfileFile {
  try {
    const file = JSON.parse(readFileSync(profilePath(env), 'utf8')) as ProfileFile
    return { ...file, servers: file.servers ?? {} }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { servers: {} }
    const why = error instanceof SyntaxError ? 'it is not valid JSON' : (error as Error).message
    throw new StartFailure(
      `Cannot read ${shownProfilePath(env)}: ${why}. Fix it, or delete it and sign in: jeton login`,
    )
  }
}

interface SaveOptions {
  readonly env?: Environment
  /** Only `jeton login` sets it: the default must never change as a side effect. */
  readonly makeDefault?: boolean
}

/** The server that commands go to, before and after a profile was saved. */
export interface Defaults {
  readonly before: string | undefined
  readonly after: string
}

/** Saves the credential of a server, which becomes the default if there is none. */
export function saveProfile(url: string, profile: Profile, options: SaveOptions = {}): Defaults {
  const { env = process.env, makeDefault = false } = options
  const file = readOrSetAside(env)
  const before = file.default !== undefined && file.servers[file.default] ? file.default : undefined
  const after = makeDefault ? url : (before ?? url)
  const servers = { ...file.servers, [url]: { ...file.servers[url], ...profile } }
  write(env, { ...file, default: after, servers })
  return { before, after }
}

/** Makes a saved server the one that commands go to. */
export function saveDefaultServer(url: string, env: Environment): void {
  write(env, { ...readProfiles(env), default: url })
}

interface Removal {
  /** Undefined if the server was not saved. */
  readonly removed: Profile | undefined
  readonly wasDefault: boolean
  readonly left: readonly string[]
}

/** Removes a saved server. Without a default, commands go to the address of a first start. */
export function removeProfile(url: string, env: Environment): Removal {
  const { default: chosen, servers, ...rest } = readProfiles(env)
  const { [url]: removed, ...left } = servers
  const wasDefault = chosen === url
  if (removed)
    write(env, { ...rest, ...(chosen !== undefined && !wasDefault && { default: chosen }), servers: left })
  return { removed, wasDefault, left: Object.keys(left) }
}

/** False if there is no profile for this server. */
export const saveDefaultProject = (url: string, project: string, env: Environment): boolean =>
  changeProfile(url, (before) => ({ ...before, project }), env)

/** Saves the key pair of a project. False if there is no profile for this server. */
export const saveKey = (
  url: string,
  { projectId, key }: { projectId: string; key: SavedKey },
  env: Environment,
): boolean => changeProfile(url, (before) => ({ ...before, keys: { ...before.keys, [projectId]: key } }), env)

function changeProfile(url: string, change: (before: Profile) => Profile, env: Environment): boolean {
  const file = readProfiles(env)
  const before = file.servers[url]
  if (before) write(env, { ...file, servers: { ...file.servers, [url]: change(before) } })
  return before !== undefined
}

/** Renames a broken file instead of failing, because a credential that is shown once must not be lost. */
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

/** Writes a file that only its owner can read. The rename replaces an older file with other permissions, and is atomic. */
export function writePrivateFile(path: string, text: string): void {
  const beside = `${path}.${process.pid}`
  writeFileSync(beside, text, { mode: 0o600 })
  chmodSync(beside, 0o600)
  renameSync(beside, path)
}
