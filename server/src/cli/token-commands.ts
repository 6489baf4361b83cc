import type { Command } from 'commander'
import { SCOPES, type Side } from '../contract/scopes.ts'
import { type Answer, type ApiRequest, curlLine, openSession, type Session } from './call-api.ts'
import { nameServer } from './connection.ts'
import { exampleText, shellWord } from './format.ts'
import { type Io, printLine, remark } from './io.ts'
import { addClientOptions, asClient, type ClientOptions } from './key-pair.ts'
import { printFields, printTable } from './print.ts'
import { addOutputOptions, type Output } from './print-answer.ts'

type Fields = Readonly<Record<string, unknown>>

/** Issues a token, as an API client does. */
export async function issueToken(io: Io, options: ClientOptions & { scope: string }): Promise<void> {
  const scope = options.scope
    .split(/[\s,]+/)
    .filter(Boolean)
    .join(' ')
  const session = openSession(io, options)
  if (!options.curl) nameServer(io, session.connection)
  const form = { grant_type: 'client_credentials', scope }
  const answer = await post(session, { path: '/v1/oauth/token', form }, options)
  if (!answer) return
  const { access_token } = answer.json as Fields
  if (options.quiet) return printLine(io, String(access_token))
  print(io, answer, options)
  if (options.json) return
  const again = `jeton token issue --scope ${shellWord(scope)} --quiet${session.sameFlags}`
  remark(io, `The token is shown only once. To store one in a variable: TOKEN=$(${again})`)
}

/** Introspects a token, as an API does with the token of its caller. */
export async function introspectToken(
  io: Io,
  token: string,
  options: ClientOptions & { ipAddress?: string },
): Promise<void> {
  const form = { token, ...(options.ipAddress && { ip_address: options.ipAddress }) }
  const answer = await post(openSession(io, options), { path: '/v1/oauth/introspect', form }, options)
  if (!answer) return
  const { access_token: _, ...shown } = answer.json as Fields
  if (options.quiet) return printLine(io, shown.active ? 'active' : 'inactive')
  print(io, { ...answer, json: shown }, options)
}

/** Undefined if `--curl` was given and the command is printed. */
async function post(
  session: Session,
  call: { path: string; form: Record<string, string> },
  options: ClientOptions,
): Promise<Answer | undefined> {
  const { io, connection } = session
  const request: ApiRequest = { method: 'POST', ...call, credential: {} }
  if (options.curl) return void printLine(io, curlLine(connection.apiUrl, request))
  return asClient(session, options).call(request)
}

function print(io: Io, { text, json }: Answer, { json: asJson }: Output): void {
  if (asJson) printLine(io, text)
  else printFields(io, json as Fields)
}

export function addTokenIssue(token: Command, io: Io): void {
  const command = token
    .command('issue')
    .summary('Exchange an API key for an access token')
    .description(
      'Exchanges an API key (app id and app token) for an access token, as an API client does. --quiet prints only the token.',
    )
    .option('--scope <values>', 'scope values, separated by spaces or commas', 'api')
    .addHelpText(
      'after',
      exampleText([
        'TOKEN=$(jeton token issue --scope "loyalties rewards" --quiet)',
        'jeton token issue --app-id 4f0c5d1e-7a52-4b7e-9d0f-3c1f6a2b8e90 < secret.txt',
      ]),
    )
  addOutputOptions(addClientOptions(command))
  command.action((options) => issueToken(io, options))
}

export function addTokenIntrospect(token: Command, io: Io): void {
  const command = token
    .command('introspect')
    .summary('Check whether a token is active')
    .description(
      'Checks whether a token is active and what it covers, as an API does with the token of a caller.',
    )
    .argument('<access_token>', 'the token, jtn_…')
    .option('--ip-address <address>', 'IP address of the caller, checked against the allowlist of the key')
  addOutputOptions(addClientOptions(command))
  command.action((typed, options) => introspectToken(io, typed, options))
}

const PREFIX: Readonly<Record<Side, string>> = { server: '/v1', client: '/client/v1' }

const ROWS = Object.entries(SCOPES).map(([scope, { side, segment }]) => ({
  scope,
  path: `${PREFIX[side]}/${segment}`,
}))

interface ScopeOptions {
  readonly json?: boolean
  readonly quiet?: boolean
}

function printScopes(io: Io, { json, quiet }: ScopeOptions): void {
  if (json) printLine(io, JSON.stringify(ROWS))
  else if (quiet) for (const { scope } of ROWS) printLine(io, scope)
  else printTable(io, ['scope', 'path'], ROWS)
}

export function addScopeCommands(program: Command, io: Io): void {
  program
    .command('scope')
    .command('list')
    .summary('List the scopes and the paths that each opens')
    .description('Lists the scopes that keys may request, and the paths that each opens. Calls no server.')
    .option('--json', 'JSON output')
    .option('--quiet', 'names only')
    .addHelpText('after', exampleText(['jeton scope list', 'jeton scope list | grep redemptions']))
    .action((options) => printScopes(io, options))
}
