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
  /** Where it came from, for the message when the server rejects it. */
  readonly from: string
}

/** The server and our credential there. The credential is resolved lazily, because `--curl` works without one. */
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
  /** True if the profile has other servers, so that commands that change something name this one. */
  readonly isOneOfSeveral: boolean
}

const DEFAULT_URL = 'http://127.0.0.1:8080'

export const addConnectionOptions = (command: Command): Command =>
  command
    .optionsGroup('Server')
    .option('--url <url>', 'URL of the server (default: JETON_URL or profile)')
    .option('--management-id <id>', 'operator (default: JETON_MANAGEMENT_ID or profile)')
    .option('--management-token <token>', 'token (default: JETON_MANAGEMENT_TOKEN or profile)')

/** Normalizes a URL, because profiles are stored by it. */
export function plainUrl(url: string, wrong = wrongUsage): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (!parsed || !/^https?:$/.test(parsed.protocol))
    throw wrong(`${JSON.stringify(url)} is not a URL such as ${DEFAULT_URL}.`)
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

/** Prints the server before a command changes something, if the profile has several. */
export function nameServer(io: Io, { url, isOneOfSeveral }: Connection): void {
  if (isOneOfSeveral) remark(io, `Server: ${url}`)
}

function fromFlags({ managementId: id, managementToken: token }: ConnectionOptions): Credential | undefined {
  if ((id === undefined) !== (token === undefined))
    throw wrongUsage('--management-id and --management-token are only valid together.')
  return id === undefined || token === undefined ? undefined : { id, token, from: 'the flags' }
}

function fromEnvironment(env: Io['env']): Credential | undefined {
  const { JETON_MANAGEMENT_ID: id, JETON_MANAGEMENT_TOKEN: token } = env
  if (!id !== !token)
    throw new CommandFailure(
      'JETON_MANAGEMENT_ID and JETON_MANAGEMENT_TOKEN are only valid together: set both or neither.',
      EXIT.configuration,
    )
  return id && token ? { id, token, from: 'JETON_MANAGEMENT_ID and JETON_MANAGEMENT_TOKEN' } : undefined
}

function noCredential(url: string, known: readonly string[]): CommandFailure {
  const others = known.length > 0 ? ` Saved for: ${known.join(', ')} (--url).` : ''
  return new CommandFailure(
    `No credentials for ${url}.${others}\nSign in: jeton login --url ${url}\nOr create an operator on the machine with the store: jeton operator create --local --save`,
    EXIT.credentials,
  )
}
