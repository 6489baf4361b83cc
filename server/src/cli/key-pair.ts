import type { Command } from 'commander'
import { type Answer, type ApiRequest, callApi, type Session } from './call-api.ts'
import { addConnectionOptions, type Connection, type ConnectionOptions } from './connection.ts'
import { CommandFailure, EXIT } from './exit.ts'
import { remark } from './io.ts'
import { secret } from './login.ts'
import type { Output } from './print-answer.ts'
import { saveKey, shownProfilePath } from './profile.ts'
import { projectId, projectName } from './resolve.ts'

export const PROJECT_TEXT = 'id or name (default: JETON_PROJECT, the profile, the only one)'

/** Flags of commands that call as an API client: the key pair, its project, the server. */
export const addClientOptions = (command: Command): Command =>
  addConnectionOptions(
    command
      .optionsGroup('API key')
      .option('--project <project>', PROJECT_TEXT)
      .option('--app-id <id>', 'app id of a key (default: the one saved for the project)')
      .option('--app-token <token>', 'secret of the key (default: prompt or standard input)'),
  )

export interface KeyPairOptions {
  readonly appId?: string
  readonly appToken?: string
}

/** The flags of a command that calls as an API client. */
export interface ClientOptions extends KeyPairOptions, ConnectionOptions, Output {
  readonly project?: string
  readonly curl?: boolean
}

export interface KeyPair {
  readonly credential: Record<string, string>
  /** Undefined for a pair from flags, whose project only the server knows. */
  readonly projectId: string | undefined
}

/** The key pair from the flags, or the one saved for the project. Without a profile it prompts. */
export async function keyPair(session: Session, options: KeyPairOptions): Promise<KeyPair> {
  const { io, connection } = session
  if (options.appId !== undefined) return fromFlags(session, options.appId, options.appToken)
  if (connection.hasCredential()) return savedKey(session)
  const appId = await io.ask?.('App id: ')
  if (appId) return fromFlags(session, appId, options.appToken)
  throw new CommandFailure(
    `No API key for ${connection.url}. Pass --app-id (it prompts for the secret), or sign in: jeton login --url ${connection.url}`,
    EXIT.credentials,
  )
}

/** The same session with a key pair instead of the credential of the operator. */
export function asClient(session: Session, options: KeyPairOptions): Session {
  const connection = { ...session.connection, url: session.connection.apiUrl }
  let pair: Promise<KeyPair> | undefined
  const call = async (request: ApiRequest) => {
    pair ??= keyPair(session, options)
    return callApi(connection, { ...request, credential: (await pair).credential })
  }
  return { ...session, connection, call }
}

const pairOf = (appId: string, appToken: string): KeyPair['credential'] => ({
  'x-app-id': appId,
  'x-app-token': appToken,
})

async function fromFlags(
  { io, connection }: Session,
  appId: string,
  appToken: string | undefined,
): Promise<KeyPair> {
  const [project, saved] = savedAs(connection, appId) ?? []
  const token = appToken ?? saved?.app_token ?? (await secret(io, 'App token (not shown): '))
  return { credential: pairOf(appId, token), projectId: project }
}

const savedAs = ({ keys }: Connection, appId: string) =>
  Object.entries(keys).find(([, { app_id }]) => app_id === appId)

/** The key of the chosen project. A key of another project would change the wrong data. */
async function savedKey(session: Session): Promise<KeyPair> {
  const project = await projectId(session)
  const key = session.connection.keys[project]
  if (!key) throw await noKey(session, project)
  return { credential: pairOf(key.app_id, key.app_token), projectId: project }
}

async function noKey(session: Session, project: string): Promise<CommandFailure> {
  const name = JSON.stringify(await projectName(session, project))
  return new CommandFailure(
    `No API key is saved for project ${name}.\nCreate and save one: jeton key create --name command-line --permissions api --save${session.sameFlags}\nOr pass --app-id; it prompts for the secret.`,
    EXIT.credentials,
  )
}

/** Checked before a key is created, because afterwards its secret could only be printed. */
export function requireProfile({ connection: { url, isSaved } }: Session): void {
  if (!isSaved)
    throw new CommandFailure(
      `--save requires a profile for ${url}. Create one: jeton login --url ${url}`,
      EXIT.credentials,
    )
}

/** Saves a new secret with `--save`, and always if its key is already saved: otherwise the next command would fail. */
export async function saveNewSecret(session: Session, { json }: Answer, save: boolean): Promise<void> {
  const { app_id, app_token, project_id } = (json ?? {}) as Record<string, string | undefined>
  if (app_id === undefined || app_token === undefined || project_id === undefined) return
  const { io, connection } = session
  if (!save && !savedAs(connection, app_id)) return
  saveKey(connection.url, { projectId: project_id, key: { app_id, app_token } }, io.env)
  const project = JSON.stringify(await projectName(session, project_id))
  remark(io, `Saved in ${shownProfilePath(io.env)}: commands in project ${project} use this key.`)
}
