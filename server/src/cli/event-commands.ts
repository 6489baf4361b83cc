import type { Command } from 'commander'
import { addClientOptions, PROJECT_TEXT } from './client-options.ts'
import { addConnectionOptions } from './connection.ts'
import { exampleText } from './examples.ts'
import type { Io } from './io.ts'

const FROM = 'also what came before: 1h, 30m, 2d, or a time'

const collected = (value: string, before: string[] = []): string[] => [...before, value]

/** For whoever writes a receiver. */
export function addReceiverCommands(program: Command, io: Io): void {
  addListen(program, io)
  addTrigger(program, io)
  addVerify(program, io)
}

function addListen(program: Command, io: Io): void {
  const command = program
    .command('listen')
    .summary('bring events to a receiver on this machine')
    .description(
      'Sends each event of the project to an address on this machine, signed by the server with the secret of your webhook, so that the receiver is tried as it will run. It reads the event log: nothing is missed while this machine sleeps or the server is away. What is sent here is on no record.',
    )
    .requiredOption('--forward-to <url>', 'where the receiver is: localhost:3000/hook. Required.')
    .option('--as <destination>', 'take the place of this webhook or distribution (the newest, if not said)')
    .option('--secret <secret>', 'sign with this one instead: whsec_…')
    .option('--since <when>', FROM)
    .option('--events <number>', 'end after so many; 1 if the receiver refused one of them')
    .option('--project <project>', PROJECT_TEXT)
    .addHelpText(
      'after',
      exampleText([
        'jeton listen --forward-to localhost:3000/hook',
        'jeton listen --forward-to localhost:3000/hook --as wh_… --since 1h',
        'jeton listen --forward-to localhost:3000/hook --since 1m --events 1   # in a script',
      ]),
    )
  addConnectionOptions(command).optionsGroup('Output').option('--json', 'a line of JSON for each event')
  command.action(async (options) => (await import('./live/listen.ts')).listen(io, options))
}

function addTrigger(program: Command, io: Io): void {
  const command = program
    .command('trigger')
    .summary('cause an event: a real redemption with the sample card')
    .description(
      'Redeems a reward for real, with its event, and says what came of it. Points that are missing are added first.',
    )
    .argument('[what]', 'redemption', 'redemption')
    .option('--member <code>', 'another card than the sample’s')
    .option('--reward <reward>', 'id or name of a reward that the member can get (the first, if not said)')
    .addHelpText('after', exampleText(['jeton trigger redemption']))
  addClientOptions(command)
    .optionsGroup('Output')
    .option('--json', 'the answer to the redemption, unchanged')
    .option('--quiet', 'ids of events only')
  command.action(async (what, options) => (await import('./trigger.ts')).trigger(io, what, options))
}

function addVerify(program: Command, io: Io): void {
  program
    .command('verify')
    .summary('why does the signature of a request not fit?')
    .description(
      'Checks the signature of a captured request and says which reason it is if it does not fit. No server is asked. Not fitting is exit code 1.',
    )
    .option(
      '--secret <secret>',
      'secret of the webhook, whsec_…; may be given twice, for a rotation',
      collected,
    )
    .option('--tolerance <time>', 'how far the timestamp may be from now', '5m')
    .option('--header <header>', 'a header, "name: value"; the body alone is then read', collected)
    .option('--body-file <file>', 'with --header: the body, instead of standard input')
    .option('--json', 'for programs')
    .addHelpText(
      'after',
      exampleText([
        'jeton verify --secret whsec_… < request.http   # headers, an empty line, the body',
        "jeton verify --secret whsec_… --header 'webhook-id: whs_…' --header 'webhook-timestamp: …' --header 'webhook-signature: v1,…' --body-file body.json",
      ]),
    )
    .action(async (options) => (await import('./verify/verify.ts')).verify(io, options))
}

/** Verbs of `jeton event` that are more than one request. */
export function addEventVerbs(event: Command, io: Io): void {
  const tail = event
    .command('tail')
    .summary('Print events as they are written')
    .description('Prints events as they are written, until it is stopped; none is missed in between.')
    .option('--since <when>', FROM)
    .option('--kind <text>', 'only this kind, in either of its forms')
    .option('--events <number>', 'end after so many')
    .option('--project <project>', PROJECT_TEXT)
    .addHelpText('after', exampleText(['jeton event tail', 'jeton event tail --since 1h --json']))
  addConnectionOptions(tail)
    .optionsGroup('Output')
    .option('--json', 'a line of JSON for each event')
    .option('--quiet', 'ids only')
  tail.action(async (options) => (await import('./live/tail.ts')).tail(io, options))

  const kinds = event
    .command('kinds')
    .summary('List the kinds of events')
    .description(
      'Lists the kinds of events that can be subscribed to, with the address of their JSON Schema.',
    )
  addConnectionOptions(kinds)
    .optionsGroup('Output')
    .option('--json', 'the answer of the API, unchanged')
    .option('--quiet', 'kinds only')
  kinds.action(async (options) => (await import('./event-kinds.ts')).eventKinds(io, options))
}
