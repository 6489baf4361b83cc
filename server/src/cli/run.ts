import { type Command, CommanderError, Option } from 'commander'
import { VERSION } from '../app/version.ts'
import { addAccessCommands } from './access-commands.ts'
import { JetonCommand } from './command.ts'
import { addReceiverCommands } from './event-commands.ts'
import { EXIT, explainFailure } from './exit.ts'
import type { Io } from './io.ts'
import { addLoyaltyCommands } from './loyalty-commands.ts'
import { readCatalogue } from './operations.ts'
import { addResourceCommands } from './resource-command.ts'
import { addServiceCommands } from './service-commands.ts'
import { addVerbsByHand, EXTRAS } from './verbs-by-hand.ts'

const CODES = `
Exit codes
  0 done   1 refused by the server   2 wrong usage   3 not found   4 credentials
  69 server not reachable   75 try again   78 configuration

The reference of the API is at /docs of the server.
Help on a command: jeton help key create
`

/** Our own groups have no colon, so neither do commander's. */
const styleTitle = (title: string): string => title.replace(/^(Options|Commands|Arguments):$/, '$1')

/** The whole command line, as a tree. What a command needs beyond flags is loaded when it is called. */
export function buildProgram(io: Io): JetonCommand {
  const program = new JetonCommand('jeton')
    .description('The token service and event engine for loyalty and promotion APIs, on your own machines.')
    .usage('<command> [options]')
    .version(VERSION, '-v, --version', 'version of this program')
    .helpOption('-h, --help', 'this help')
    .helpCommand(false)
    .exitOverride()
    .configureHelp({ subcommandTerm: (command) => command.name(), styleTitle })
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
      outputError: (text, write) => write(text.replace(/^error: /, '')),
    })
    .addHelpText('after', CODES) as JetonCommand
  addServiceCommands(program.commandsGroup('Run it'), io)
  addAccessCommands(program.commandsGroup('Find out and get in'), io)
  const catalogue = readCatalogue()
  addResourceCommands(program.commandsGroup('Manage'), io, { catalogue, extras: EXTRAS })
  addVerbsByHand(program, io)
  addReceiverCommands(program.commandsGroup('Receive events'), io)
  addLoyaltyCommands(program.commandsGroup('Loyalty, with a key pair'), io)
  for (const noun of program.commands.filter((command) => catalogue.nouns.includes(command.name()))) {
    noun.usage('<verb> [options]').summary(noun.commands.map((verb) => verb.name()).join(' '))
  }
  tidyHelp(program)
  return program
}

/** That `--help` exists need not be said where someone has just typed it. */
function tidyHelp(parent: Command): void {
  for (const command of parent.commands) {
    command.helpCommand(false).addHelpOption(new Option('-h, --help').hideHelp())
    tidyHelp(command)
  }
}

/** `jeton help key create` prints what `jeton key create --help` does. */
function printHelp(program: JetonCommand, words: readonly string[]): void {
  let command = program
  for (const word of words.filter((one) => one !== 'help')) {
    const child = command.commands.find((one) => one.name() === word)
    command = (child as JetonCommand | undefined) ?? command.unknownCommand(word)
  }
  command.outputHelp()
}

/** Runs what was typed; the code to end with. */
export async function run(io: Io): Promise<number> {
  try {
    const program = buildProgram(io)
    const [first = 'help', ...rest] = io.argv
    if (first === 'help') printHelp(program, rest)
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
