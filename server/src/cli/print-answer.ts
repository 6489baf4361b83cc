import type { Command } from 'commander'
import { CREDENTIAL_PREFIX } from '../contract/ids.ts'
import type { Answer } from './call-api.ts'
import { headingOf, plain, plural } from './format.ts'
import { coloured, type Io, printLine, remark } from './io.ts'
import { type Catalogue, entryOf, type Operation, type Schema } from './operations.ts'
import { printFields, printTable } from './print.ts'
import { entriesOf, type List, type Resource } from './resolve.ts'

export interface Output {
  readonly json?: boolean
  readonly quiet?: boolean
}

/** The request of an answer. */
interface Requested {
  readonly operation: Operation
  readonly catalogue: Catalogue
  readonly reference: string | undefined
  readonly output: Output
}

export function printAnswer(io: Io, answer: Answer, requested: Requested): void {
  if (requested.output.json) io.stdout.write(answer.text && `${answer.text}\n`)
  else if (answer.json === null) printDone(io, requested)
  else if (isList(answer.json)) printList(io, answer.json, requested)
  else printResource(io, answer.json as Resource, requested)
}

const isList = (json: unknown): json is List => (json as { object?: string }).object === 'list'

/** Members are known by the code of their card. Entries without an `id`, such as refusals, have it as their first field. */
const idOf = ({ noun }: Operation, resource: Resource): string =>
  String((noun === 'member' && resource.code) || (resource.id ?? Object.values(resource)[0]))

const PAST: Readonly<Record<string, string>> = { delete: 'deleted', revoke: 'revoked', end: 'ended' }

function printDone(io: Io, { operation, reference, output }: Requested): void {
  // A token is never printed, even if it was typed.
  const name = reference?.startsWith(CREDENTIAL_PREFIX.access_token) ? '' : ` ${reference ?? ''}`
  if (output.quiet) printLine(io, name.trim())
  else remark(io, `${operation.noun}${name} ${PAST[operation.verb] ?? 'done'}.`)
}

function printList(io: Io, list: List, { operation, output }: Requested): void {
  const entries = entriesOf(list)
  if (output.quiet) for (const entry of entries) printLine(io, idOf(operation, entry))
  else if (entries.length > 0) printTable(io, operation.columns ?? scalarsOf(operation), entries)
  else if (io.isTTY) remark(io, `No ${plural(operation.noun)}.`)
  if (entries.length < list.total && entries.length > 0)
    remark(
      io,
      `${entries.length} of ${list.total}. More: --all, --limit or ${list.next_cursor ? `--cursor ${list.next_cursor}` : '--page'}`,
    )
}

/** The columns of a list that declares none. */
function scalarsOf(operation: Operation): string[] {
  const entry = entryOf(operation)?.properties ?? {}
  return Object.keys(entry).filter((name) => name !== 'object' && entry[name]?.type !== 'array')
}

function printResource(io: Io, resource: Resource, requested: Requested): void {
  const secrets = secretsOf(requested)
  if (requested.output.quiet) printLine(io, idOf(requested.operation, resource))
  else {
    const { columns } = requested.operation
    printParts(io, resource, { secrets, documents: documentsOf(requested, resource), columns })
  }
  for (const name of secrets) {
    // Printed with --quiet as well: it cannot be read again.
    if (requested.output.quiet) remark(io, `${name}  ${resource[name]}`)
    remark(io, `${name} is shown only once. Store it now.`)
    const { noun } = requested.operation
    const verb = ['regenerate', 'rotate'].find((one) => requested.catalogue.find(noun, one))
    if (verb) remark(io, `To replace it: jeton ${noun} ${verb} ${idOf(requested.operation, resource)}`)
  }
}

interface Parts {
  readonly secrets: readonly string[]
  readonly documents: readonly string[]
  /** The fields to show, in order; undefined for all. */
  readonly columns: readonly string[] | undefined
}

/** Prints fields, then secrets, then nested objects as tables, then documents. */
function printParts(io: Io, resource: Resource, { secrets, documents, columns }: Parts): void {
  const isTable = (name: string): boolean => {
    const value = resource[name]
    if (Array.isArray(value)) return typeof value[0] === 'object'
    return columns !== undefined && typeof value === 'object' && value !== null
  }
  const names = (columns ?? Object.keys(resource)).filter(
    (name) => name !== 'object' && !documents.includes(name),
  )
  const fields = names.filter((name) => !isTable(name) && !secrets.includes(name))
  printFields(io, Object.fromEntries([...fields, ...secrets].map((name) => [name, resource[name]])))
  for (const name of names.filter(isTable)) {
    const rows = [resource[name]].flat() as Resource[]
    if (io.isTTY) printLine(io, '')
    printTable(io, Object.keys(rows[0]!), rows)
  }
  for (const name of documents) printDocument(io, name, resource[name])
}

/** Indented for people; for programs on one line, like any field. */
function printDocument(io: Io, name: string, value: unknown): void {
  const pretty = () => JSON.stringify(value, null, 2).split('\n').map(plain)
  const lines = io.isTTY
    ? ['', coloured(io, 'dim', headingOf(name)), ...pretty()]
    : [`${name}\t${plain(JSON.stringify(value))}`]
  for (const line of lines) printLine(io, line)
}

/** Fields without a type are JSON of any shape, such as the data of an event. */
function documentsOf({ operation }: Requested, resource: Resource): string[] {
  const untyped = Object.entries(operation.answer?.properties ?? {}).filter(([, { type }]) => !type)
  const isDocument = (value: unknown) => typeof value === 'object' && value !== null
  return untyped.map(([name]) => name).filter((name) => isDocument(resource[name]))
}

/** The only value of `object` in the schema. */
const objectOf = (properties: Schema['properties']): string | undefined => properties?.object?.enum?.[0]

/** Text that reading the same resource later does not show. */
function secretsOf({ operation, catalogue }: Requested): string[] {
  const show = catalogue.find(operation.noun, 'show')?.answer?.properties
  const answer = operation.answer?.properties ?? {}
  // The response may be another resource: testing a webhook returns a delivery.
  if (!show || operation.verb === 'show' || objectOf(answer) !== objectOf(show)) return []
  return Object.keys(answer).filter((name) => !(name in show) && answer[name]!.type === 'string')
}

/** The output flags of every command that calls the API. */
export const addOutputOptions = (command: Command): Command =>
  command
    .optionsGroup('Output')
    .option('--json', 'raw API response')
    .option('--quiet', 'ids only')
    .option('--curl', 'print the request as a curl command instead of sending it')
