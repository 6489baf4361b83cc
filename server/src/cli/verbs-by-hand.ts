import type { Command } from 'commander'
import { addClientOptions } from './client-options.ts'
import { addConnectionOptions } from './connection.ts'
import { judgeTest, TEST_WAIT_MS, tellLeftOut } from './delivery-outcomes.ts'
import { addEventVerbs } from './event-commands.ts'
import { exampleText } from './examples.ts'
import type { Io } from './io.ts'
import { addOutputOptions, type Extra } from './resource-command.ts'

/** Verbs of resources that are more than one request to the management API. */
export function addVerbsByHand(program: Command, io: Io): void {
  const noun = (name: string) => program.commands.find((command) => command.name() === name)!
  addProjectUse(noun('project'), io)
  addTokenIssue(noun('token'), io)
  addTokenIntrospect(noun('token'), io)
  addEventVerbs(noun('event'), io)
}

function addProjectUse(project: Command, io: Io): void {
  const command = project
    .command('use')
    .summary('Choose the project that commands work on')
    .description('Keeps a project in your profile as the one that commands work on.')
    .argument('<project>', 'id or name')
  addConnectionOptions(command)
  command.action(async (typed, options) => (await import('./use-project.ts')).useProject(io, typed, options))
}

function addTokenIssue(token: Command, io: Io): void {
  const command = token
    .command('issue')
    .summary('Exchange an API key pair for an access token')
    .description(
      'Does what an API client does: exchanges a key pair for an access token. --quiet prints the token alone.',
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
  command.action(async (options) => (await import('./use-token.ts')).issueToken(io, options))
}

function addTokenIntrospect(token: Command, io: Io): void {
  const command = token
    .command('introspect')
    .summary('Ask whether a token is active')
    .description('Does what an API does with the token of a caller: asks whether it is active, and for what.')
    .argument('<access_token>', 'the token, jtn_…')
    .option('--ip-address <address>', 'address of the caller, held against the whitelist of the key')
  addOutputOptions(addClientOptions(command))
  command.action(async (typed, options) =>
    (await import('./use-token.ts')).introspectToken(io, typed, options),
  )
}

/** `operator create --local` works on the store itself: the first operator, and the way back in. */
const localCreation: Extra = {
  addOptions: (create) =>
    create
      .optionsGroup('On the machine of the store')
      .option('--local', 'write to the store that the settings name, without a server')
      .option('--save', 'with --local: keep the credential in your profile'),
  takesOver: (options) => options.local === true,
  run: async (io, options) => (await import('./create-local-operator.ts')).createLocalOperator(io, options),
}

const keyCreation: Extra = {
  before: async (session, request) => (await import('./create-key.ts')).refuseNameInUse(session, request),
  after: async (session, answer) => (await import('./create-key.ts')).nameProject(session, answer),
}

const auditList: Extra = {
  forPeople: async (session, answer) => (await import('./audit-names.ts')).auditWithNames(session, answer),
  after: async (session, _, options) =>
    (await import('./audit-names.ts')).nameListedProject(session, options),
}

const test: Extra = { defaults: { wait_ms: TEST_WAIT_MS }, conclude: judgeTest }

export const EXTRAS: Readonly<Record<string, Extra>> = {
  'operator.create': localCreation,
  'key.create': keyCreation,
  'audit.list': auditList,
  'webhook.test': test,
  'distribution.test': test,
  'delivery.recover': { conclude: tellLeftOut },
}
