import { CREDENTIAL_PREFIX } from '../contract/ids.ts'
import type { Answer } from './call-api.ts'
import { headingOf, plain } from './cells.ts'
import { coloured, type Io, printLine, remark } from './io.ts'
import { type Catalogue, entryOf, type Operation, type Schema } from './operations.ts'
import type { List, Resource } from './pages.ts'
import { plural } from './plural.ts'
import { printFields, printTable } from './print-table.ts'

export interface Output {
  readonly json?: boolean
  readonly quiet?: boolean
}

/** What the answer is about. */
interface Asked {
  readonly operation: Operation
  readonly catalogue: Catalogue
  readonly reference: string | undefined
  readonly output: Output
}

export function printAnswer(io: Io, answer: Answer, asked: Asked): void {
  if (asked.output.json) io.stdout.write(answer.text && `${answer.text}\n`)
  else if (answer.json === null) printDone(io, asked)
  else if (isList(answer.json)) printList(io, answer.json, asked)
  else printResource(io, answer.json as Resource, asked)
}

const isList = (json: unknown): json is List => (json as { object?: string }).object === 'list'

/** Lists without an `id` (refusals, say) are known by their first field. */
const idOf = (resource: Resource): string => String(resource.id ?? Object.values(resource)[0])

const PAST: Readonly<Record<string, string>> = { delete: 'deleted', revoke: 'revoked' }

function printDone(io: Io, { operation, reference, output }: Asked): void {
  // A token is not repeated, however it was typed.
  const name = reference?.startsWith(CREDENTIAL_PREFIX.access_token) ? '' : ` ${reference ?? ''}`
  if (output.quiet) printLine(io, name.trim())
  else remark(io, `${operation.noun}${name} ${PAST[operation.verb] ?? 'done'}.`)
}

function printList(io: Io, list: List, { operation, output }: Asked): void {
  if (output.quiet) for (const entry of list.data) printLine(io, idOf(entry))
  else if (list.data.length > 0) printTable(io, operation.columns ?? scalarsOf(operation), list.data)
  else if (io.isTTY) remark(io, `No ${plural(operation.noun)}.`)
  if (list.data.length < list.total && list.data.length > 0)
    remark(
      io,
      `${list.data.length} of ${list.total}. More: --all, --limit or ${list.next_cursor ? `--cursor ${list.next_cursor}` : '--page'}`,
    )
}

/** Where the list does not say what to show. */
function scalarsOf(operation: Operation): string[] {
  const entry = entryOf(operation)?.properties ?? {}
  return Object.keys(entry).filter((name) => name !== 'object' && entry[name]?.type !== 'array')
}

function printResource(io: Io, resource: Resource, asked: Asked): void {
  const secrets = secretsOf(asked)
  if (asked.output.quiet) printLine(io, idOf(resource))
  else {
    const { columns } = asked.operation
    printParts(io, resource, { secrets, documents: documentsOf(asked, resource), columns })
  }
  for (const name of secrets) {
    // Even where only the id is wanted the secret must not be lost: it cannot be read again.
    if (asked.output.quiet) remark(io, `${name}  ${resource[name]}`)
    remark(io, `${name} is shown this once; keep it now.`)
    const { noun } = asked.operation
    const verb = ['regenerate', 'rotate'].find((one) => asked.catalogue.find(noun, one))
    if (verb) remark(io, `A new one: jeton ${noun} ${verb} ${idOf(resource)}`)
  }
}

interface Parts {
  readonly secrets: readonly string[]
  readonly documents: readonly string[]
  /** The names to show, in their order; all of them where the operation names none. */
  readonly columns: readonly string[] | undefined
}

/** First the fields, secrets last of them, then objects that it holds, as tables, and long documents at the end. */
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

/** Easy to read for people; for programs on one line, like any field. */
function printDocument(io: Io, name: string, value: unknown): void {
  const pretty = () => JSON.stringify(value, null, 2).split('\n').map(plain)
  const lines = io.isTTY
    ? ['', coloured(io, 'dim', headingOf(name)), ...pretty()]
    : [`${name}\t${plain(JSON.stringify(value))}`]
  for (const line of lines) printLine(io, line)
}

/** What has no type of its own is JSON of any shape: the data of an event, what is sent. */
function documentsOf({ operation }: Asked, resource: Resource): string[] {
  const untyped = Object.entries(operation.answer?.properties ?? {}).filter(([, { type }]) => !type)
  return untyped.map(([name]) => name).filter((name) => typeof resource[name] === 'object')
}

/** What kind of thing it is: the document gives the one value that it may have. */
const objectOf = (properties: Schema['properties']): string | undefined => properties?.object?.enum?.[0]

/** What an answer has that reading the same resource later does not show. */
function secretsOf({ operation, catalogue }: Asked): string[] {
  const show = catalogue.find(operation.noun, 'show')?.answer?.properties
  const answer = operation.answer?.properties ?? {}
  // The answer may be about something else: a test of a webhook is a delivery.
  if (!show || operation.verb === 'show' || objectOf(answer) !== objectOf(show)) return []
  return Object.keys(answer).filter((name) => !(name in show))
}
