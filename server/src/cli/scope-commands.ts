import type { Command } from 'commander'
import { SCOPES, type Side } from '../contract/scopes.ts'
import { exampleText } from './format.ts'
import { type Io, printLine } from './io.ts'
import { printTable } from './print.ts'

const PREFIX: Readonly<Record<Side, string>> = { server: '/v1', client: '/client/v1' }

const ROWS = Object.entries(SCOPES).map(([scope, { side, segment }]) => ({
  scope,
  path: `${PREFIX[side]}/${segment}`,
}))

interface Options {
  readonly json?: boolean
  readonly quiet?: boolean
}

function printScopes(io: Io, { json, quiet }: Options): void {
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
