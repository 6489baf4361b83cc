import type { Command } from 'commander'
import { type Answer, type ApiRequest, curlLine, openSession, type Session } from './call-api.ts'
import { addConnectionOptions, nameServer } from './connection.ts'
import { wrongUsage } from './exit.ts'
import { fieldsOf, type Options, optionOf } from './fields.ts'
import { exampleText } from './format.ts'
import { type Io, printLine } from './io.ts'
import { addClientOptions, asClient, PROJECT_TEXT, requireProfile, saveNewSecret } from './key-pair.ts'
import { type Catalogue, entryOf, OF_PROJECT, type Operation } from './operations.ts'
import { addOutputOptions, type Output, printAnswer } from './print-answer.ts'
import { chosenProject, wholeList } from './resolve.ts'
import {
  confirmed,
  isDestructive,
  pathFlagOf,
  refuseUnattended,
  requestOf,
  requiredOf,
  type Typed,
} from './resource-request.ts'

/** Additions to one generated command. */
export interface Extra {
  readonly examples?: readonly string[]
  addOptions?(command: Command): unknown
  /** True if `run` replaces the request to the API. */
  takesOver?(options: Options): boolean
  run?(io: Io, options: Options): Promise<void>
  /** Runs before the request and may refuse it. */
  before?(session: Session, request: ApiRequest): Promise<void>
  /** Sends the request in parts instead. */
  send?(session: Session, request: ApiRequest): Promise<Answer>
  /** The response with names instead of ids, for a terminal. `text` stays unchanged. */
  forPeople?(session: Session, answer: Answer): Promise<Answer>
  /** Runs after the response is printed, except with --json and --quiet. */
  after?(session: Session, answer: Answer, options: Options): Promise<void>
  /** Query parameters that are sent unless their flag is given. */
  defaults?(options: Options): Readonly<Record<string, string>>
  /** Runs last: adds a note, or ends with another exit code. */
  conclude?(io: Io, answer: Answer, options: Options): void
}

interface Source {
  readonly catalogue: Catalogue
  /** By `noun.verb`. */
  readonly extras: Readonly<Record<string, Extra>>
  /** Adds the nouns that operators manage, or those that only API clients use. */
  readonly users: 'operators' | 'API clients'
}

/** Adds the commands of resources, generated from the operations of the API. */
export function addResourceCommands(program: Command, io: Io, { catalogue, extras, users }: Source): void {
  const isForClients = (noun: string) => catalogue.of(noun).every(({ asClient }) => asClient)
  for (const noun of catalogue.nouns.filter((one) => isForClients(one) === (users === 'API clients'))) {
    const command = program.command(noun)
    for (const operation of catalogue.of(noun)) {
      const extra = extras[`${noun}.${operation.verb}`]
      if (!operation.verb.endsWith(OF_PROJECT)) addVerb(command, io, { catalogue, operation, extra })
    }
  }
}

interface About {
  readonly catalogue: Catalogue
  readonly operation: Operation
  readonly extra: Extra | undefined
}

function addVerb(noun: Command, io: Io, about: About): void {
  const { operation, extra } = about
  const command = noun.command(operation.verb).summary(operation.summary)
  command.description(
    [`${operation.summary}.`, operation.description?.replaceAll('`', '')].filter(Boolean).join(' '),
  )
  if (operation.ownParam) command.argument(`<${operation.noun}>`, argumentText(about))
  addFields(command, about)
  if (hasAppToken(operation))
    command.option('--save', 'save the app id and app token for commands that call as an API client')
  extra?.addOptions?.(command)
  addOutputOptions(operation.asClient ? addClientOptions(command) : addConnectionOptions(command))
  command.addHelpText('after', exampleText(extra?.examples))
  command.action((...typed: unknown[]) => {
    const options = command.opts()
    if (extra?.run && extra.takesOver?.(options)) return extra.run(io, options)
    return execute(io, about, { reference: operation.ownParam ? String(typed[0]) : undefined, options })
  })
}

/** Whether the response has the secret of an API key. */
const hasAppToken = ({ answer }: Operation): boolean => answer?.properties?.app_token !== undefined

const CLIENT_ARGUMENTS: Readonly<Record<string, string>> = {
  customer: 'id or source_id',
  campaign: 'id or name',
  member: 'code of the card',
}

const argumentText = ({ operation, catalogue }: About): string => {
  if (operation.asClient) return CLIENT_ARGUMENTS[operation.noun] ?? 'id'
  const show = catalogue.find(operation.noun, 'show')?.answer?.properties ?? {}
  if ('app_id' in show) return 'id, app id or name'
  return 'name' in show ? 'id or name' : 'id'
}

function addFields(command: Command, { operation, catalogue }: About): void {
  const { body, query, method } = operation
  command.optionsGroup('Fields')
  if (body && method !== 'DELETE') {
    const required = requiredOf(operation)
    for (const field of fieldsOf(body)) command.addOption(optionOf(field, required.includes(field.name)))
    command.option('--data <json>', 'whole body: JSON, @file, or - for standard input')
  }
  for (const name of operation.pathFlags.map(pathFlagOf))
    command.requiredOption(`--${name} <${name}>`, CLIENT_ARGUMENTS[name])
  for (const field of query) command.addOption(optionOf(field, false))
  if (operation.inProject || ofProject(catalogue, operation))
    command.option('--project <project>', PROJECT_TEXT)
  if (ofProject(catalogue, operation))
    command.option('--all-projects', 'all projects, and entries without one, such as operators')
  if (entryOf(operation)) command.option('--all', 'all pages')
  if (isDestructive(operation)) command.option('--yes', 'do not ask for confirmation')
}

const ofProject = (catalogue: Catalogue, { noun, verb }: Operation): Operation | undefined =>
  catalogue.find(noun, verb + OF_PROJECT)

interface ResourceOptions extends Options, Output {
  readonly project?: string
  readonly allProjects?: boolean
  readonly yes?: boolean
  readonly curl?: boolean
  readonly all?: boolean
  readonly save?: boolean
  readonly appId?: string
  readonly appToken?: string
}

async function execute(io: Io, about: About, typed: Typed): Promise<void> {
  const { catalogue, operation: typedOperation, extra } = about
  const options: ResourceOptions = typed.options
  const asOperator = openSession(io, options, catalogue)
  const session = typedOperation.asClient ? asClient(asOperator, options) : asOperator
  const operation = inChosenProject(session, typedOperation, options)
  const yes = options.yes === true
  if (isDestructive(operation) && !options.curl) refuseUnattended(io, yes)
  if (options.save) requireProfile(session)
  let request = await requestOf(session, operation, typed)
  if (extra?.defaults) request = { ...request, query: { ...extra.defaults(options), ...request.query } }
  if (operation.method !== 'GET' && !options.curl) nameServer(io, session.connection)
  if (isDestructive(operation) && (!options.curl || operation.body))
    request = await confirmed(session, operation, { request, yes: yes || options.curl === true })
  if (options.curl) return printLine(io, curlLine(session.connection.url, request))
  await extra?.before?.(session, request)
  const send = extra?.send ?? ((_: Session, one: ApiRequest) => session.call(one))
  const answer = options.all ? await everyPage(session, request) : await send(session, request)
  const shown = io.isTTY && extra?.forPeople ? await extra.forPeople(session, answer) : answer
  printAnswer(io, shown, { operation, catalogue, reference: typed.reference, output: options })
  if (!options.json && !options.quiet) await extra?.after?.(session, answer, options)
  if (hasAppToken(operation)) await saveNewSecret(session, answer, options.save === true)
  extra?.conclude?.(io, answer, options)
}

/** Uses the list of the chosen project if the API has one list per project and one for all. */
function inChosenProject(session: Session, operation: Operation, options: ResourceOptions): Operation {
  if (options.project && options.allProjects)
    throw wrongUsage('--project and --all-projects cannot be combined.')
  const chosen = !options.allProjects && chosenProject(session) !== undefined
  return (chosen && ofProject(session.catalogue, operation)) || operation
}

async function everyPage(session: Session, request: Parameters<typeof wholeList>[1]) {
  const json = await wholeList(session, request)
  return { status: 200, requestId: '', text: JSON.stringify(json), json }
}
