import { closeSync, openSync, readSync } from 'node:fs'
import { Ajv } from 'ajv'
import { type Document, isMap, isScalar, LineCounter, parseDocument, visit } from 'yaml'
import { explainValidation, type Finding } from '../../platform/http/index.ts'
import { CommandFailure, EXIT, wrongUsage } from '../exit.ts'
import type { Io } from '../io.ts'
import type { Catalogue } from '../operations.ts'
import { declarationSchema, HEADER_VALUE, type ProjectEntry } from './declaration.ts'

/** A thousand keys take a fifth of this. A larger file is a mistake, or made to exhaust the memory. */
const MAX_BYTES = 1_000_000
const MAX_ERRORS_SHOWN = 10

type Path = readonly (string | number)[]

/** A mistake in the file, and where it is. */
interface Mistake {
  readonly offset: number
  readonly says: string
}

export interface FileSource {
  /** As typed; `-` is standard input. */
  readonly path: string
  readonly catalogue: Catalogue
}

/** Reads, checks and completes the file. Every mistake has a position; none repeats a value, which may be a secret. */
export async function readDeclaration(
  io: Io,
  { path, catalogue }: FileSource,
): Promise<readonly ProjectEntry[]> {
  const text = path === '-' ? await io.readInput() : readText(path)
  if (Buffer.byteLength(text) > MAX_BYTES) throw tooLarge(path)
  const lines = new LineCounter()
  const failIf = (mistakes: readonly Mistake[]) => {
    if (mistakes.length > 0) throw refused(path, lines, mistakes)
  }
  const document = parsed(path, text, lines)
  failIf(secretsIn(text))
  failIf(mistakesOfYaml(document))
  const { projects } = contentOf(document, catalogue, failIf)
  failIf(duplicates(document, projects))
  const missing: Mistake[] = []
  const complete = projects.map((project, i) => withHeaders(project, { io, document, i, missing }))
  failIf(missing)
  return complete
}

function readText(path: string): string {
  const bytes = Buffer.alloc(MAX_BYTES + 1)
  let length = 0
  try {
    const file = openSync(path, 'r')
    try {
      for (let read = -1; read !== 0; length += read)
        read = readSync(file, bytes, length, bytes.length - length, null)
    } finally {
      closeSync(file)
    }
  } catch (error) {
    throw wrongUsage(`Cannot read ${path} (${(error as NodeJS.ErrnoException).code}). Pass the file with -f.`)
  }
  if (length > MAX_BYTES) throw tooLarge(path)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, length))
  } catch {
    throw new CommandFailure(`${path} is not UTF-8 text. Nothing was changed.`, EXIT.configuration)
  }
}

const tooLarge = (path: string): CommandFailure =>
  new CommandFailure(
    `${path} is larger than ${MAX_BYTES / 1_000_000} MB. Split it: each file describes its own projects.`,
    EXIT.configuration,
  )

function refused(path: string, lines: LineCounter, mistakes: readonly Mistake[]): CommandFailure {
  const shown = mistakes.slice(0, MAX_ERRORS_SHOWN).map(({ offset, says }) => {
    const { line, col } = lines.linePos(offset)
    return `${path}:${line}:${col}: ${says}`
  })
  const more = mistakes.length - shown.length
  if (more > 0) shown.push(`${more} more.`)
  return new CommandFailure(`${shown.join('\n')}\nNothing was changed.`, EXIT.configuration)
}

function parsed(path: string, text: string, lineCounter: LineCounter): Document.Parsed {
  try {
    // Keys are checked here: the library compares each with all others.
    return parseDocument(text, { lineCounter, prettyErrors: false, stringKeys: true, uniqueKeys: false })
  } catch (error) {
    if (error instanceof RangeError)
      throw new CommandFailure(`${path} is nested too deeply. Nothing was changed.`, EXIT.configuration)
    throw error
  }
}

const CREDENTIAL = /(?:jt[almns]|whsec)_[\w+/-]{16,}/g

/** Searches the whole text, comments included. */
const secretsIn = (text: string): Mistake[] =>
  [...text.matchAll(CREDENTIAL)].map(({ index }) => ({
    offset: index,
    says: 'this looks like a secret. Remove it, and replace it on the server if others can read the file.',
  }))

function mistakesOfYaml(document: Document.Parsed): Mistake[] {
  const [first] = [...document.errors, ...document.warnings]
  // Further errors are consequences of the first. Behind a colon, the library repeats text of the file.
  if (first) return [{ offset: first.pos[0], says: `${first.message.split(':')[0]!.replace(/\.$/, '')}.` }]
  const mistakes: Mistake[] = []
  visit(document, {
    Alias: (_, { range }) => void mistakes.push({ offset: range![0], says: ALIAS_TEXT }),
    Map(_, { items }) {
      const seen = new Set<unknown>()
      for (const { key } of items) {
        if (!isScalar(key)) continue
        if (seen.has(key.value))
          mistakes.push({ offset: key.range![0], says: `${JSON.stringify(key.value)} is here twice.` })
        seen.add(key.value)
      }
    },
  })
  return mistakes
}

const ALIAS_TEXT =
  'aliases (*name) are not supported, because a few of them can fill the memory. Write the value.'

/** The content of the file, which fits the schema. */
function contentOf(
  document: Document.Parsed,
  catalogue: Catalogue,
  failIf: (mistakes: readonly Mistake[]) => void,
): { projects: readonly ProjectEntry[] } {
  const value = document.toJS({ maxAliasCount: 0 })
  const ajv = new Ajv({ strict: false, allErrors: true, verbose: true, validateFormats: false })
  const validate = ajv.compile(declarationSchema(catalogue))
  if (!validate(value)) failIf(mistakesOf(document, validate.errors as unknown as Finding[]))
  return value
}

/** A misspelt field is unknown, and the right one is missing: it is reported once, where it is. */
function mistakesOf(document: Document.Parsed, findings: readonly Finding[]): Mistake[] {
  const isUnknown = ({ keyword }: Finding) => keyword === 'additionalProperties'
  const explained = (finding: Finding): Mistake => {
    const { message, details } = explainValidation([finding], 'file')
    const name = finding.propertyName ?? finding.params.additionalProperty
    return {
      offset: offsetOf(document, pathOf(finding), name as string | undefined),
      says: `${message.replace(/^The request/, 'the file')}${hintFor(finding, details)}`,
    }
  }
  const unknown = findings.filter(isUnknown).map(explained)
  const known = new Set(unknown.map(({ says }) => says))
  const others = findings
    .filter((finding) => !isUnknown(finding) && finding.keyword !== 'propertyNames')
    .map(explained)
    .filter(({ says }) => !known.has(says) && known.add(says))
  return [...unknown, ...others].sort((a, b) => a.offset - b.offset)
}

const SECRET_FIELDS = ['secret', 'app_token', 'token', 'password']

function hintFor({ keyword, params, data }: Finding, details: string | undefined): string {
  if (SECRET_FIELDS.includes(String(params.additionalProperty)))
    return ' The server makes secrets, and apply writes new ones to the file of --secrets.'
  if (params.additionalProperty === 'campaign_id') return ' Name the campaign: campaign: Club'
  if (keyword === 'additionalProperties' || keyword === 'required')
    return details?.startsWith('Fields') ? ` ${details}` : ''
  const isText = keyword === 'type' && String(params.type).includes('string')
  return isText && (typeof data === 'number' || typeof data === 'boolean') ? ' Put it in quotes.' : ''
}

const pathOf = ({ instancePath }: Finding): Path =>
  instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))

/** Where a value starts, or one of its keys. A value that is left out has the position of what it belongs to. */
function offsetOf(document: Document.Parsed, path: Path, key?: string): number {
  const node = path.length === 0 ? document.contents : document.getIn(path, true)
  if (isMap(node)) {
    const name = node.items.find((pair) => isScalar(pair.key) && pair.key.value === key)?.key
    if (isScalar(name)) return name.range![0]
  }
  const range = (node as { range?: readonly number[] | null } | undefined)?.range
  return range?.[0] ?? (path.length === 0 ? 0 : offsetOf(document, path.slice(0, -1), String(path.at(-1))))
}

const LISTS = ['keys', 'webhooks', 'distributions'] as const

/** Names identify entries, so each may occur once. */
function duplicates(document: Document.Parsed, projects: readonly ProjectEntry[]): Mistake[] {
  const mistakes: Mistake[] = []
  const check = (path: Path, entries: readonly { name?: string | null; target_url?: string }[]) => {
    const seen = new Set<string>()
    entries.forEach(({ name, target_url }, i) => {
      const identity = JSON.stringify(name ?? { target_url })
      const says = name ? `${JSON.stringify(name)} is here twice. Names must be unique.` : SAME_URL_TEXT
      if (seen.has(identity))
        mistakes.push({ offset: offsetOf(document, [...path, i, name ? 'name' : 'target_url']), says })
      seen.add(identity)
    })
  }
  check(['projects'], projects)
  projects.forEach((project, i) => {
    for (const list of LISTS) check(['projects', i, list], project[list] ?? [])
  })
  return mistakes
}

const SAME_URL_TEXT = 'two webhooks without a name have this target_url. Give each a name.'

interface Place {
  readonly io: Io
  readonly document: Document.Parsed
  /** Index of the project. */
  readonly i: number
  readonly missing: Mistake[]
}

/** Replaces `${NAME}` in the values of headers. */
function withHeaders(project: ProjectEntry, { io, document, i, missing }: Place): ProjectEntry {
  const distributions = project.distributions?.map((entry, j) => {
    const headers = Object.entries(entry.headers ?? {}).map(([name, text]) => {
      const { scheme = '', variable = '' } = HEADER_VALUE.exec(text)!.groups!
      const value = io.env[variable] ?? ''
      const offset = () => offsetOf(document, ['projects', i, 'distributions', j, 'headers', name])
      if (!/^[\x21-\x7e]([\x20-\x7e]{0,1900}[\x21-\x7e])?$/.test(value))
        missing.push({ offset: offset(), says: `environment variable ${variable} ${problemOf(value)}.` })
      return [name, `${scheme}${value}`]
    })
    return { ...entry, headers: Object.fromEntries(headers) as Record<string, string> }
  })
  return { ...project, ...(distributions && { distributions }) }
}

const problemOf = (value: string): string =>
  value === ''
    ? 'is not set. Set it and apply again'
    : 'must be 1 to 1,900 printable ASCII characters without leading or trailing spaces'
