import { Command, CommanderError, Option } from 'commander'
import { VERSION } from '../app/version.ts'
import { didYouMean } from '../platform/closest.ts'
import { addDeclarativeCommands } from './apply/commands.ts'
import { addCallRaw } from './call-raw.ts'
import { addCheck } from './check-call.ts'
import { addCompletion } from './completion.ts'
import { addConsole } from './console.ts'
import { addDemo } from './demo/demo.ts'
import { EXIT, explainFailure } from './exit.ts'
import { addExplain } from './explain.ts'
import { TERMINAL_COLUMNS } from './format.ts'
import { asStarted, type Io } from './io.ts'
import { addEventKinds, addTail } from './live/event-commands.ts'
import { addListen } from './live/listen.ts'
import { addLogin, addLogout, addProjectUse, addServerCommands, addWhoami } from './login.ts'
import { type Catalogue, readCatalogue } from './operations.ts'
import { addRedeem } from './redeem.ts'
import { addResourceCommands } from './resource-command.ts'
import { EXTRAS } from './resource-extras.ts'
import { addServiceCommands } from './service-commands.ts'
import { addStatus } from './status.ts'
import { addScopeCommands, addTokenIntrospect, addTokenIssue } from './token-commands.ts'
import { addTour } from './tour/tour.ts'
import { addTrigger } from './trigger.ts'
import { addVerify } from './verify/verify.ts'

/** Meaning of each exit code, for the help and the generated reference. */
export const EXIT_CODES: readonly (readonly [number, string])[] = [
  [0, 'success'],
  [EXIT.refused, 'rejected or stopped'],
  [EXIT.usage, 'usage error'],
  [EXIT.notFound, 'not found'],
  [EXIT.credentials, 'credentials'],
  [EXIT.differs, 'differences'],
  [EXIT.unreachable, 'server unreachable'],
  [EXIT.tryAgain, 'retry later'],
  [EXIT.configuration, 'configuration'],
]

const codeLine = (codes: typeof EXIT_CODES): string =>
  `  ${codes.map(([code, meaning]) => `${code} ${meaning}`).join('  ')}`

const AFTER_HELP = `
Exit codes
${codeLine(EXIT_CODES.slice(0, 5))}
${codeLine(EXIT_CODES.slice(5))}

Documentation: /docs on the server
Help for a command: jeton help key create
`

/** Our groups have no colon, so commander's titles lose theirs. */
const styleTitle = (title: string): string => title.replace(/^(Options|Commands|Arguments):$/, '$1')

/** The command line as a tree. The modules that run the service are loaded only by the commands that need them. */
export function buildProgram(io: Io, catalogue: Catalogue = readCatalogue()): Command {
  const program = new Command('jeton')
    .description('Self-hosted OAuth 2.0 access tokens and signed webhooks for loyalty APIs.')
    .usage('<command> [options]')
    .version(VERSION, '-v, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .exitOverride()
    .configureHelp({ subcommandTerm: (command) => command.name(), styleTitle })
    .configureOutput({
      writeOut: (text) => void io.stdout.write(asStarted(io, text)),
      writeErr: (text) => void io.stderr.write(text),
      outputError: (text, write) => write(usageError(text)),
    })
    .addHelpText('after', AFTER_HELP)
  addServiceCommands(program.commandsGroup('Run the service'), io)
  program.commandsGroup('Diagnose and sign in')
  const diagnose = [
    addStatus,
    addConsole,
    addTour,
    addDemo,
    addExplain,
    addCheck,
    addLogin,
    addLogout,
    addWhoami,
    addServerCommands,
  ]
  for (const add of [...diagnose, addCallRaw, addCompletion]) add(program, io)
  const source = { catalogue, extras: EXTRAS }
  addResourceCommands(program.commandsGroup('Manage'), io, { ...source, users: 'operators' })
  addScopeCommands(program, io)
  addDeclarativeCommands(program, io)
  const noun = (name: string) => program.commands.find((command) => command.name() === name)!
  addProjectUse(noun('project'), io)
  for (const add of [addTokenIssue, addTokenIntrospect]) add(noun('token'), io)
  for (const add of [addTail, addEventKinds]) add(noun('event'), io)
  program.commandsGroup('Receive events')
  for (const add of [addListen, addTrigger, addVerify]) add(program, io)
  program.commandsGroup('Loyalty, with an API key')
  addResourceCommands(program, io, { ...source, users: 'API clients' })
  addRedeem(program, io)
  for (const command of program.commands) finish(command, 'jeton')
  program.showHelpAfterError('See: jeton --help')
  return program
}

/** Lists the verbs of a noun, leaves `--help` out of the options, and ends each usage error with where to look. */
function finish(command: Command, parent: string): void {
  const name = `${parent} ${command.name()}`
  const verbs = command.commands.map((verb) => verb.name()).join(' ')
  if (verbs) command.usage('<verb> [options]').summary(verbs)
  command.helpCommand(false).addHelpOption(new Option('-h, --help').hideHelp())
  command.showHelpAfterError(`See: ${name} --help`)
  const flags = command.options.flatMap(({ long }) => long ?? [])
  command.configureOutput({ outputError: (text, write) => write(usageError(text, flags)) })
  for (const child of command.commands) finish(child, name)
}

/** Commander's message as one sentence without a line break: `See: …` follows on the same line. */
function usageError(text: string, flags: readonly string[] = []): string {
  const [, message = '', guess] = /^(?:error: )?(.*?)(?:\n\(Did you mean (.*)\?\))?\n?$/s.exec(text) ?? []
  // Commander suggests nothing for `--flag=value`. The value is not repeated: it may be a secret.
  const unknown = /^unknown option '(--[^=]+)=/.exec(message)?.[1]
  if (unknown) return `Unknown option '${unknown}'.${didYouMean(unknown, flags)} `
  const required = /^required option '(--[\w-]+).*' not specified$/.exec(message)?.[1]
  const sentence = required ? `missing required flag: ${required}` : message.replace(/\.$/, '')
  return `${sentence[0]!.toUpperCase()}${sentence.slice(1)}.${guess ? ` Did you mean ${guess}?` : ''} `
}

/** `jeton help key create` prints what `jeton key create --help` prints. */
async function printHelp(program: Command, words: readonly string[]): Promise<void> {
  let command: Command | undefined = program
  for (const word of words) command = command?.commands.find((one) => one.name() === word)
  // Parsing the words fails with the usual message for an unknown command.
  if (command) command.outputHelp()
  else await program.parseAsync(words, { from: 'user' })
}

/** Runs the arguments; returns the exit code. */
export async function run(given: Io): Promise<number> {
  const { stderr } = given
  const io: Io = {
    ...given,
    stderr: {
      write: (text) => stderr.write(asStarted(given, text)),
      get isTTY() {
        return stderr.isTTY === true
      },
      get columns() {
        return stderr.columns || TERMINAL_COLUMNS
      },
    },
  }
  try {
    const program = buildProgram(io)
    const [first = 'help', ...rest] = io.argv
    if (first === 'help')
      await printHelp(
        program,
        rest.filter((word) => word !== 'help'),
      )
    else await program.parseAsync(io.argv, { from: 'user' })
    return 0
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT.usage
    const { text, exitCode } = explainFailure(error)
    if (text) io.stderr.write(`${text}\n`)
    return exitCode
  }
}

export { processIo } from './io.ts'
