import type { Command } from 'commander'
import { CommandFailure, EXIT, wrongUsage } from './exit.ts'
import { type Io, remark } from './io.ts'
import { type Profile, readProfiles, shownProfilePath } from './profile.ts'

export interface ConnectionOptions {
  readonly url?: string
  readonly managementId?: string
  readonly managementToken?: string
}

interface Credential {
  readonly id: string
  readonly token: string
  /** Told when the server does not accept it. */
  readonly from: string
}

/** Which server, and who we are there. The credential is looked for when it is needed: `--curl` does without. */
export interface Connection {
  readonly url: string
  readonly credential: () => Credential
  /** Whether a credential was given or saved. */
  readonly hasCredential: () => boolean
  /** Whether this server has a profile. */
  readonly isSaved: boolean
  readonly defaultProject: string | undefined
  /** Address for API clients, which may be another port than the operators'. */
  readonly apiUrl: string
  /** Saved key pairs, by project id. */
  readonly keys: NonNullable<Profile['keys']>
  /** Whether the profile knows other servers, so that this one must be named where something changes. */
  readonly isOneOfSeveral: boolean
}

const DEFAULT_URL = 'http://127.0.0.1:8080'

export const addConnectionOptions = (command: Command): Command =>
  command
    .optionsGroup('Server')
    .option('--url <url>', 'address of the server (JETON_URL, else the profile)')
    .option('--management-id <id>', 'operator (JETON_MANAGEMENT_ID, else the profile)')
    .option('--management-token <token>', 'its token (JETON_MANAGEMENT_TOKEN, else the profile)')

/** One spelling per server, since profiles are found by it. */
export function plainUrl(url: string, wrong = wrongUsage): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (!parsed || !/^https?:$/.test(parsed.protocol))
    throw wrong(`${JSON.stringify(url)} is not an address such as ${DEFAULT_URL}.`)
  return `${parsed.origin}${parsed.pathname}`.replace(/\/+$/, '')
}

function urlOf({ env }: Io, options: ConnectionOptions, inProfile: string | undefined): string {
  if (options.url) return plainUrl(options.url)
  const wrong = (message: string) => new CommandFailure(`JETON_URL: ${message}`, EXIT.configuration)
  return env.JETON_URL ? plainUrl(env.JETON_URL, wrong) : (inProfile ?? DEFAULT_URL)
}

export function connect(io: Io, options: ConnectionOptions): Connection {
  const { env } = io
  const profiles = readProfiles(env)
  const url = urlOf(io, options, profiles.default)
  const profile = profiles.servers[url]
  const inProfile = profile && {
    id: profile.management_id,
    token: profile.management_token,
    from: shownProfilePath(env),
  }
  const find = () => fromFlags(options) ?? fromEnvironment(env) ?? inProfile
  const known = Object.keys(profiles.servers)
  const credential = () => {
    const found = find()
    if (!found) throw noCredential(url, known)
    return found
  }
  return {
    url,
    credential,
    hasCredential: () => find() !== undefined,
    isSaved: profile !== undefined,
    defaultProject: profile?.project,
    apiUrl: profile?.api_url ?? url,
    keys: profile?.keys ?? {},
    isOneOfSeveral: known.some((other) => other !== url),
  }
}

/** For every command that changes something: with several servers, a person must see which one it was. */
export function nameServer(io: Io, { url, isOneOfSeveral }: Connection): void {
  if (isOneOfSeveral) remark(io, `Server: ${url}`)
}

function fromFlags({ managementId: id, managementToken: token }: ConnectionOptions): Credential | undefined {
  if ((id === undefined) !== (token === undefined))
    throw wrongUsage('--management-id and --management-token go together.')
  return id === undefined || token === undefined ? undefined : { id, token, from: 'the flags' }
}

function fromEnvironment(env: Io['env']): Credential | undefined {
  const { JETON_MANAGEMENT_ID: id, JETON_MANAGEMENT_TOKEN: token } = env
  if (!id !== !token)
    throw new CommandFailure(
      'JETON_MANAGEMENT_ID and JETON_MANAGEMENT_TOKEN go together: set both or neither.',
      EXIT.configuration,
    )
  return id && token ? { id, token, from: 'JETON_MANAGEMENT_ID and JETON_MANAGEMENT_TOKEN' } : undefined
}

function noCredential(url: string, known: readonly string[]): CommandFailure {
  const others = known.length > 0 ? ` There are some for: ${known.join(', ')} (--url).` : ''
  return new CommandFailure(
    `No credentials for ${url}.${others}\nSave some: jeton login --url ${url}\nMake some on the machine of the store: jeton operator create --local --save`,
    EXIT.credentials,
  )
}
