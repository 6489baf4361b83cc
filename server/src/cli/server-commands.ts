import type { Command } from 'commander'
import { plainUrl } from './connection.ts'
import { CommandFailure, EXIT, wrongUsage } from './exit.ts'
import { exampleText } from './format.ts'
import { type Io, printLine, remark } from './io.ts'
import { printTable } from './print.ts'
import { readProfiles, removeProfile, saveDefaultServer, shownProfilePath } from './profile.ts'

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
  await confirm(io, url, yes === true)
  const { wasDefault, left } = removeProfile(url, io.env)
  remark(io, `Removed ${url} from ${shownProfilePath(io.env)}. Its operator stays.`)
  if (wasDefault && left[0] !== undefined)
    remark(io, `It was the default. Choose another: jeton server use ${left[0]}`)
}

/** The credential may exist nowhere else. */
async function confirm(io: Io, url: string, yes: boolean): Promise<void> {
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
