import type { Command } from 'commander'
import type { Answer, ApiRequest } from './call-api.ts'
import { PROJECT_TEXT } from './client-options.ts'
import { confirmed, isDestructive, refuseUnattended } from './confirm.ts'
import { addConnectionOptions, nameServer } from './connection.ts'
import { curlLine } from './curl.ts'
import { EXAMPLES, exampleText } from './examples.ts'
import { wrongUsage } from './exit.ts'
import { fieldsOf, type Options, optionOf } from './fields.ts'
import { type Io, printLine } from './io.ts'
import { requireProfile, saveNewSecret } from './key-pair.ts'
import { type Catalogue, OF_PROJECT, type Operation } from './operations.ts'
import { wholeList } from './pages.ts'
import { type Output, printAnswer } from './print-answer.ts'
import { chosenProject } from './resolve.ts'
import { requestOf, requiredOf, type Typed } from './resource-request.ts'
import { openSession, type Session } from './session.ts'

/** What one command does beyond its request to the API. */
export interface Extra {
  addOptions?(command: Command): unknown
  /** True where `run` does all of it, without the API. */
  takesOver?(options: Options): boolean
  run?(io: Io, options: Options): Promise<void>
  /** Before the request is sent: the last chance to refuse it. */
  before?(session: Session, request: ApiRequest): Promise<void>
  /** The answer with names in the place of ids. `text` stays what the API sent. */
  forPeople?(session: Session, answer: Answer): Promise<Answer>
  /** After the answer is printed, unless a program reads it. */
  after?(session: Session, answer: Answer, options: Options): Promise<void>
  /** Query parameters that are sent unless their flag is typed. */
  readonly defaults?: Readonly<Record<string, string>>
  /** After the answer is shown: adds a remark, or ends with another exit code. */
  conclude?(io: Io, answer: Answer, options: Options): void
}

interface Source {
  readonly catalogue: Catalogue
  /** By `noun.verb`. */
  readonly extras: Readonly<Record<string, Extra>>
}

/** The commands of every resource, from the operations of the API. */
export function addResourceCommands(program: Command, io: Io, { catalogue, extras }: Source): void {
  for (const noun of catalogue.nouns) {
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
    command.option('--save', 'save the key pair for the commands that call as an API client')
  extra?.addOptions?.(command)
  addOutputOptions(addConnectionOptions(command))
  command.addHelpText('after', exampleText(EXAMPLES[`${operation.noun}.${operation.verb}`]))
  command.action((...typed: unknown[]) => {
    const options = command.opts()
    if (extra?.run && extra.takesOver?.(options)) return extra.run(io, options)
    return execute(io, about, { reference: operation.ownParam ? String(typed[0]) : undefined, options })
  })
}

/** Whether the answer holds the secret of an API key, which commands can use. */
const hasAppToken = ({ answer }: Operation): boolean => answer?.properties?.app_token !== undefined

const argumentText = ({ operation, catalogue }: About): string => {
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
    command.option('--data <json>', 'the whole body instead: JSON, @file, or - for standard input')
  }
  for (const field of query) command.addOption(optionOf(field, false))
  if (operation.inProject || ofProject(catalogue, operation))
    command.option('--project <project>', PROJECT_TEXT)
  if (ofProject(catalogue, operation))
    command.option('--all-projects', 'of every project, and what belongs to none, such as operators')
  if (operation.verb === 'list') command.option('--all', 'every page, not only the first')
  if (isDestructive(operation)) command.option('--yes', 'do not ask')
}

export const addOutputOptions = (command: Command): Command =>
  command
    .optionsGroup('Output')
    .option('--json', 'the answer of the API, unchanged')
    .option('--quiet', 'ids only')
    .option('--curl', 'print the request as a curl command instead of sending it')

const ofProject = (catalogue: Catalogue, { noun, verb }: Operation): Operation | undefined =>
  catalogue.find(noun, verb + OF_PROJECT)

interface ResourceOptions extends Options, Output {
  readonly project?: string
  readonly allProjects?: boolean
  readonly yes?: boolean
  readonly curl?: boolean
  readonly all?: boolean
  readonly save?: boolean
}

async function execute(io: Io, about: About, typed: Typed): Promise<void> {
  const { catalogue, operation: typedOperation, extra } = about
  const options: ResourceOptions = typed.options
  const session = openSession(io, options, catalogue)
  const operation = inChosenProject(session, typedOperation, options)
  const yes = options.yes === true
  if (isDestructive(operation) && !options.curl) refuseUnattended(io, yes)
  if (options.save) requireProfile(session)
  let request = await requestOf(session, operation, typed)
  if (extra?.defaults) request = { ...request, query: { ...extra.defaults, ...request.query } }
  if (operation.method !== 'GET' && !options.curl) nameServer(io, session.connection)
  if (isDestructive(operation) && (!options.curl || operation.body))
    request = await confirmed(session, operation, { request, yes: yes || options.curl === true })
  if (options.curl) return printLine(io, curlLine(session.connection.url, request))
  await extra?.before?.(session, request)
  const answer = options.all ? await everyPage(session, request) : await session.call(request)
  const shown = io.isTTY && extra?.forPeople ? await extra.forPeople(session, answer) : answer
  printAnswer(io, shown, { operation, catalogue, reference: typed.reference, output: options })
  if (!options.json && !options.quiet) await extra?.after?.(session, answer, options)
  if (hasAppToken(operation)) await saveNewSecret(session, answer, options.save === true)
  extra?.conclude?.(io, answer, options)
}

/** Where a list exists for a project and for all of them, the chosen project decides as for every other command. */
function inChosenProject(session: Session, operation: Operation, options: ResourceOptions): Operation {
  if (options.project && options.allProjects)
    throw wrongUsage('--project and --all-projects exclude each other.')
  const chosen = !options.allProjects && chosenProject(session) !== undefined
  return (chosen && ofProject(session.catalogue, operation)) || operation
}

async function everyPage(session: Session, request: Parameters<typeof wholeList>[1]) {
  const json = await wholeList(session, request)
  return { status: 200, requestId: '', text: JSON.stringify(json), json }
}
