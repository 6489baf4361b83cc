import type { Command } from 'commander'
import type { Answer } from './call-api.ts'
import { confirmed, isDestructive, refuseUnattended } from './confirm.ts'
import { addConnectionOptions } from './connection.ts'
import { curlLine } from './curl.ts'
import { EXAMPLES, exampleText } from './examples.ts'
import { fieldsOf, type Options, optionOf } from './fields.ts'
import { type Io, printLine } from './io.ts'
import { keepNewSecret } from './key-pair.ts'
import { type Catalogue, OF_PROJECT, type Operation } from './operations.ts'
import { wholeList } from './pages.ts'
import { type Output, printAnswer } from './print-answer.ts'
import { requestOf, type Typed } from './resource-request.ts'
import { openSession, type Session } from './session.ts'

/** What one command does beyond its operation of the API. */
export interface Extra {
  /** A flag that leads elsewhere than to the API. */
  addOptions?(command: Command): unknown
  takesOver?(options: Options): boolean
  run?(io: Io, options: Options): Promise<void>
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
  extra?.addOptions?.(command)
  addOutputOptions(addConnectionOptions(command))
  command.addHelpText('after', exampleText(EXAMPLES[`${operation.noun}.${operation.verb}`]))
  command.action((...typed: unknown[]) => {
    const options = command.opts()
    if (extra?.takesOver?.(options)) return extra.run?.(io, options)
    return execute(io, about, { reference: operation.ownParam ? String(typed[0]) : undefined, options })
  })
}

const argumentText = ({ operation, catalogue }: About): string => {
  const show = catalogue.find(operation.noun, 'show')?.answer?.properties ?? {}
  if ('app_id' in show) return 'id, app id or name'
  return 'name' in show ? 'id or name' : 'id'
}

function addFields(command: Command, { operation, catalogue }: About): void {
  const { body, query, method } = operation
  command.optionsGroup('Fields')
  if (body && method !== 'DELETE') {
    for (const field of fieldsOf(body))
      command.addOption(optionOf(field, body.required?.includes(field.name) === true))
    command.option('--data <json>', 'the whole body instead: JSON, @file, or - for standard input')
  }
  for (const field of query) command.addOption(optionOf(field, false))
  if (operation.inProject || ofProject(catalogue, operation))
    command.option('--project <project>', 'id or name (JETON_PROJECT, else the profile, else the only one)')
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

async function execute(io: Io, about: About, typed: Typed): Promise<void> {
  const { catalogue, operation: typedOperation, extra } = about
  const options = typed.options as Options &
    Output & { project?: string; yes?: boolean; curl?: boolean; all?: boolean }
  const operation = (options.project && ofProject(catalogue, typedOperation)) || typedOperation
  const yes = options.yes === true
  if (isDestructive(operation) && !options.curl) refuseUnattended(io, yes)
  const session = openSession(io, options, catalogue)
  let request = await requestOf(session, operation, typed)
  if (extra?.defaults) request = { ...request, query: { ...extra.defaults, ...request.query } }
  if (isDestructive(operation) && (!options.curl || operation.body))
    request = await confirmed(session, operation, { request, yes: yes || options.curl === true })
  if (options.curl) return printLine(io, curlLine(session.connection.url, request))
  const answer = options.all ? await everyPage(session, request) : await session.call(request)
  printAnswer(io, answer, { operation, catalogue, reference: typed.reference, output: options })
  keepNewSecret(io, session.connection, answer)
  extra?.conclude?.(io, answer, options)
}

async function everyPage(session: Session, request: Parameters<typeof wholeList>[1]) {
  const json = await wholeList(session, request)
  return { status: 200, requestId: '', text: JSON.stringify(json), json }
}
