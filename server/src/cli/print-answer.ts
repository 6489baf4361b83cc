import { CREDENTIAL_PREFIX } from '../contract/ids.ts'
import type { Answer } from './call-api.ts'
import { type Io, printLine, remark } from './io.ts'
import { type Catalogue, entryOf, type Operation } from './operations.ts'
import type { List, Resource } from './pages.ts'
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
  else if (io.isTTY) remark(io, `No ${operation.noun}s.`)
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
  else printParts(io, resource, secrets)
  for (const name of secrets) {
    // Even where only the id is wanted the secret must not be lost: it cannot be read again.
    if (asked.output.quiet) remark(io, `${name}  ${resource[name]}`)
    remark(io, `${name} is shown this once; keep it now.`)
    const { noun } = asked.operation
    const verb = ['regenerate', 'rotate-secret'].find((one) => asked.catalogue.find(noun, one))
    if (verb) remark(io, `A new one: jeton ${noun} ${verb} ${idOf(resource)}`)
  }
}

/** Fields first, then what it holds several of, as tables; secrets last, where the eye is. */
function printParts(io: Io, resource: Resource, secrets: readonly string[]): void {
  const isTable = (value: unknown) => Array.isArray(value) && typeof value[0] === 'object'
  const shown = Object.entries(resource).filter(([name]) => name !== 'object')
  const fields = shown.filter(([name, value]) => !isTable(value) && !secrets.includes(name))
  const last = secrets.map((name) => [name, resource[name]])
  printFields(io, Object.fromEntries([...fields, ...last]))
  for (const [, value] of shown.filter(([, value]) => isTable(value))) {
    const rows = value as Resource[]
    if (io.isTTY) printLine(io, '')
    printTable(io, Object.keys(rows[0]!), rows)
  }
}

/** What an answer has that reading the same resource later does not show. */
function secretsOf({ operation, catalogue }: Asked): string[] {
  const show = catalogue.find(operation.noun, 'show')?.answer?.properties
  if (!show || operation.verb === 'show') return []
  return Object.keys(operation.answer?.properties ?? {}).filter((name) => !(name in show))
}
