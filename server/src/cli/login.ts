import type { Command } from 'commander'
import { callApi, curlLine, openSession } from './call-api.ts'
import { addConnectionOptions, type ConnectionOptions, connect, plainUrl } from './connection.ts'
import { CommandFailure, EXIT, wrongUsage } from './exit.ts'
import { exampleText } from './format.ts'
import { type Io, printLine, remark } from './io.ts'
import { printFields, printTable } from './print.ts'
import { addOutputOptions, type Output } from './print-answer.ts'
import {
  readProfiles,
  removeProfile,
  saveDefaultProject,
  saveDefaultServer,
  saveProfile,
  shownProfilePath,
} from './profile.ts'
import { resolveReference } from './resolve.ts'

interface LoginOptions {
  readonly url?: string
  readonly id?: string
  readonly token?: string
  readonly project?: string
}

/** Saves a credential for the next commands after the server has accepted it. */
export async function login(io: Io, options: LoginOptions): Promise<void> {
  const known = connect(io, options).url
  const url = plainUrl(options.url ?? ((await io.ask?.(`Server [${known}]: `)) || known))
  const id = options.id ?? (await io.ask?.('Operator id: '))
  if (!id) throw wrongUsage('Missing required flag: --id (the id of an operator, op_…).')
  const token = options.token ?? (await secret(io, 'Token (not shown): '))
  const given: ConnectionOptions = { url, managementId: id, managementToken: token }
  await callApi(connect(io, given), { method: 'GET', path: '/management/v1/projects', query: { limit: '1' } })
  const project =
    options.project &&
    (await resolveReference(openSession(io, given), { noun: 'project', typed: options.project }))
  const { before } = saveProfile(
    url,
    { management_id: id, management_token: token, ...(project && { project }) },
    { env: io.env, makeDefault: true },
  )
  const instead = before !== undefined && before !== url ? ` instead of ${before}` : ''
  remark(io, `Saved in ${shownProfilePath(io.env)}. Commands now go to ${url}${instead} as ${id}.`)
}

/** Asks without an echo, or reads the first line of standard input. A flag would be visible to other users of the machine. */
export async function secret(io: Io, question: string): Promise<string> {
  const given = io.ask
    ? await io.ask(question, { hidden: true })
    : (await io.readInput()).split('\n', 1)[0]!.trim()
  if (!given) throw wrongUsage('Missing secret: pass it with its flag, or on standard input.')
  return given
}

export async function useProject(io: Io, typed: string, options: ConnectionOptions): Promise<void> {
  const session = openSession(io, options)
  const { url, keys } = session.connection
  const id = await resolveReference(session, { noun: 'project', typed })
  const path = `/management/v1/projects/${encodeURIComponent(id)}`
  const { name } = (await session.call({ method: 'GET', path })).json as { name: string }
  if (!saveDefaultProject(url, id, io.env))
    throw new CommandFailure(
      `There is no profile for ${url}. Create one: jeton login --url ${url}   Or set JETON_PROJECT=${id}`,
      EXIT.credentials,
    )
  remark(io, `Commands to ${url} now use project ${JSON.stringify(name)} (${id}).`)
  if (io.env.JETON_PROJECT) remark(io, 'JETON_PROJECT is set in this shell and takes precedence.')
  if (!keys[id])
    remark(
      io,
      `No API key is saved for it. To issue tokens and redeem: jeton key create --name command-line --permissions api --save${session.sameFlags}`,
    )
}

export function addProjectUse(project: Command, io: Io): void {
  const command = project
    .command('use')
    .summary('Set the default project')
    .description('Saves a project in your profile as the default of commands.')
    .argument('<project>', 'id or name')
  addConnectionOptions(command)
  command.action((typed, options) => useProject(io, typed, options))
}

export function addLogin(program: Command, io: Io): void {
  program
    .command('login')
    .summary('save the credential of a server for the next commands')
    .description(
      'Checks the credential of an operator and saves it in a file that only you can read. Asks for missing values. The token can also come from standard input.',
    )
    .option('--url <url>', 'address of the server')
    .option('--id <id>', 'operator (X-Management-Id)')
    .option('--token <token>', 'its token (X-Management-Token)')
    .option('--project <project>', 'default project, id or name')
    .addHelpText('after', exampleText(['jeton login --url https://jeton.example --id op_5Hq2… < token.txt']))
    .action((options) => login(io, options))
}

/** Removes what `login` saved. The credential itself stays valid. */
export function logout(io: Io, options: ConnectionOptions): void {
  const { url } = connect(io, options)
  const { removed } = removeProfile(url, io.env)
  if (!removed)
    throw new CommandFailure(`Nothing is saved for ${url} in ${shownProfilePath(io.env)}.`, EXIT.notFound)
  const keys = Object.keys(removed.keys ?? {}).length
  const also = keys > 0 ? `, and ${keys} saved API key${keys > 1 ? 's' : ''}` : ''
  remark(io, `Removed the credential of ${removed.management_id} for ${url}${also}.`)
  remark(
    io,
    `The token still works. To end it, sign in again and run: jeton operator regenerate ${removed.management_id}`,
  )
}

export function addLogout(program: Command, io: Io): void {
  program
    .command('logout')
    .summary('forget the saved credential of a server')
    .description('Removes the credential of a server from your profile, with the API keys saved for it.')
    .option('--url <url>', 'address of the server (default: JETON_URL or profile)')
    .addHelpText('after', exampleText(['jeton logout --url https://jeton.example']))
    .action((options) => logout(io, options))
}

interface Whoami {
  readonly operator: { readonly id: string; readonly name: string }
  readonly role: string
  readonly projects: readonly string[] | null
  readonly address: string | null
}

const WHOAMI = { method: 'GET', path: '/management/v1/whoami' }

/** Says which operator the next commands act as, and where. */
export async function whoami(
  io: Io,
  options: ConnectionOptions & Output & { curl?: boolean },
): Promise<void> {
  const { connection, call } = openSession(io, options)
  if (options.curl) return printLine(io, curlLine(connection.url, WHOAMI))
  const { text, json } = await call(WHOAMI)
  const { operator, role, projects, address } = json as Whoami
  if (options.json) return printLine(io, text)
  if (options.quiet) return printLine(io, operator.id)
  const server = connection.url
  printFields(io, {
    server,
    id: operator.id,
    name: operator.name,
    role,
    projects: projects ?? 'all',
    address,
  })
  remark(io, `The credential came from ${connection.credential().from}.`)
}

export function addWhoami(program: Command, io: Io): void {
  const command = program
    .command('whoami')
    .summary('the operator, role and projects of your credential')
    .description(
      'Prints the operator that commands act as, its role and projects, and the address that the server sees.',
    )
  addOutputOptions(addConnectionOptions(command))
  command.action((options) => whoami(io, options))
}

/** The saved servers, without their secrets. */
function savedServers({ env }: Io) {
  const { default: chosen, servers } = readProfiles(env)
  return Object.entries(servers).map(([url, { management_id, project = null, keys = {} }]) => ({
    url,
    is_default: url === chosen,
    operator: management_id,
    project,
    saved_keys: Object.keys(keys).length,
  }))
}

function listServers(io: Io, { json, quiet }: { json?: boolean; quiet?: boolean }): void {
  const servers = savedServers(io)
  if (json) printLine(io, JSON.stringify(servers))
  else if (quiet) for (const { url } of servers) printLine(io, url)
  else if (servers.length > 0)
    printTable(io, ['url', 'is_default', 'operator', 'project', 'saved_keys'], servers)
  else if (io.isTTY) remark(io, 'No servers. Sign in to one: jeton login')
  if (io.env.JETON_URL) remark(io, 'JETON_URL is set in this shell and takes precedence.')
}

/** The address of a saved server, as it was saved. */
function requireSaved(io: Io, typed: string): string {
  const url = plainUrl(typed)
  const known = savedServers(io).map((one) => one.url)
  if (known.includes(url)) return url
  const saved = known.length > 0 ? ` Saved: ${known.join(', ')}` : ''
  throw new CommandFailure(
    `There is no profile for ${url}.${saved}\nSign in: jeton login --url ${url}`,
    EXIT.notFound,
  )
}

function useServer(io: Io, typed: string): void {
  const url = requireSaved(io, typed)
  saveDefaultServer(url, io.env)
  remark(io, `Commands now go to ${url}.`)
  if (io.env.JETON_URL) remark(io, 'JETON_URL is set in this shell and takes precedence.')
}

async function removeServer(io: Io, typed: string, { yes }: { yes?: boolean }): Promise<void> {
  const url = requireSaved(io, typed)
  await confirmRemoval(io, url, yes === true)
  const { wasDefault, left } = removeProfile(url, io.env)
  remark(io, `Removed ${url} from ${shownProfilePath(io.env)}. Its operator stays.`)
  if (wasDefault && left[0] !== undefined)
    remark(io, `It was the default. Choose another: jeton server use ${left[0]}`)
}

/** The credential may exist nowhere else. */
async function confirmRemoval(io: Io, url: string, yes: boolean): Promise<void> {
  if (yes) return
  if (!io.ask) throw wrongUsage('Refusing to remove without confirmation (no terminal). Pass --yes.')
  const answer = await io.ask(
    `Remove ${url}? Its saved credential and API keys are deleted from this machine. [y/N] `,
  )
  if (!/^y(es)?$/i.test(answer)) throw new CommandFailure('Nothing was removed.', EXIT.refused)
}

export function addServerCommands(program: Command, io: Io): void {
  const server = program.command('server')
  server
    .command('list')
    .summary('List the servers that you have signed in to')
    .description('Lists the servers of your profile. Secrets are not shown.')
    .option('--json', 'JSON output')
    .option('--quiet', 'URLs only')
    .action((options) => listServers(io, options))
  server
    .command('use')
    .summary('Set the server that commands go to')
    .description('Saves a server of your profile as the default of commands.')
    .argument('<url>', 'URL of a saved server')
    .addHelpText('after', exampleText(['jeton server use https://jeton.example']))
    .action((url) => useServer(io, url))
  server
    .command('remove')
    .summary('Delete the credential of a server from this machine')
    .description('Deletes the saved credential and API keys of a server. The operator itself stays.')
    .argument('<url>', 'URL of a saved server')
    .option('--yes', 'do not ask for confirmation')
    .addHelpText('after', exampleText(['jeton server remove http://127.0.0.1:8080']))
    .action((url, options) => removeServer(io, url, options))
}
