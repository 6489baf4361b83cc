import { isUtf8 } from 'node:buffer'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { IsOptional } from 'typebox'
import { Problem } from '../../contract/problem.ts'

const unreadable = (message: string, details: string): Problem =>
  new Problem('invalid_payload', { message, details })

export function decodeUtf8(body: Buffer): string {
  if (!isUtf8(body)) throw unreadable('The body is not valid UTF-8.', 'Encode it as UTF-8.')
  return body.toString()
}

/**
 * Only text with one of these can hold what no store keeps the same way (NUL, lone surrogates) or what JavaScript does
 * not treat as a plain name.
 */
const SUSPICIOUS = /\\u(00|d[89a-f])|__proto__/i
/** Far deeper than any body of ours, and no deeper than what common receivers of events read. */
const DEEPEST = 64

/** Counts brackets outside of texts. Before the parser, and without recursion, which a deep body would exhaust. */
function refuseDeep(text: string): void {
  let depth = 0
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (c === 0x22) i = endOfText(text, i)
    else if (c === 0x7b || c === 0x5b) depth++
    else if (c === 0x7d || c === 0x5d) depth--
    if (depth > DEEPEST) throw unreadable('The body is nested too deeply.', `Send at most ${DEEPEST} levels.`)
  }
}

/** The place of the quote that ends the text which begins at `start`. */
function endOfText(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (end > 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end < 0 ? text.length : end
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0
  while (text.charCodeAt(at - 1 - backslashes) === 0x5c) backslashes++
  return backslashes % 2 === 1
}

function refuseUnstorable(value: unknown): void {
  if (typeof value === 'string') {
    if (value.includes('\0') || !value.isWellFormed())
      throw unreadable('The body has a null character or half of a surrogate pair in a text.', 'Remove it.')
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, inner] of Object.entries(value)) {
      if (name === '__proto__') throw unreadable('"__proto__" is not a field here.', 'Remove it.')
      refuseUnstorable(name)
      refuseUnstorable(inner)
    }
  }
}

export function parseJson(body: Buffer): unknown {
  // Bodies are optional where nothing is required: `curl -X POST -H 'Content-Type: application/json'` sends none.
  if (body.length === 0) return undefined
  const text = decodeUtf8(body)
  refuseDeep(text)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw unreadable(
      `The body is not valid JSON: ${whereItBreaks(error as Error)}.`,
      'Check quotes, commas and brackets.',
    )
  }
  if (SUSPICIOUS.test(text)) refuseUnstorable(value)
  return value
}

/** Only the position: the parser's own message repeats the text, which may hold a secret. */
function whereItBreaks(error: Error): string {
  if (error.message.startsWith('Unexpected end')) return 'it ends too early'
  // A message that quotes the text has no position, and the quote may look like one.
  const position = /^[^"]*in JSON at position (\d+)/.exec(error.message)?.[1]
  return position ? `it breaks at character ${position}` : 'it has a character where none may be'
}

/** No body is an empty one, where none is required or where what is missing in it can be named. */
export function bodyRule(schema: object) {
  const mayBeEmpty = IsOptional(schema) || 'required' in schema
  return (request: FastifyRequest, _: FastifyReply, done: (error?: Error) => void): void => {
    if (request.body === undefined && !mayBeEmpty) throw missingBody()
    if (request.body === undefined) request.body = {}
    done()
  }
}

const missingBody = (): Problem =>
  new Problem('missing_parameters', {
    message: 'The body is missing.',
    details: 'Send JSON; the API reference at /docs shows every field.',
  })

/** A form as the OAuth endpoints take it: every field once, strictly percent-encoded. */
export type Form = ReadonlyMap<string, string>

const badForm = () =>
  unreadable(
    'The form is not valid: bad percent-encoding.',
    'Encode it as application/x-www-form-urlencoded, in UTF-8.',
  )

function decodeField(text: string): string {
  if (!text.includes('%') && !text.includes('+')) return text
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw badForm()
  }
}

export function parseForm(body: Buffer): Form {
  const form = new Map<string, string>()
  const text = decodeUtf8(body)
  if (text === '') return form
  for (const pair of text.split('&')) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const name = decodeField(equals < 0 ? pair : pair.slice(0, equals))
    const value = equals < 0 ? '' : decodeField(pair.slice(equals + 1))
    if (value.includes('\0') || name.includes('\0'))
      throw unreadable('The form has a null character.', 'Remove it.')
    if (form.has(name))
      throw new Problem('duplicate_parameter', {
        message: `${JSON.stringify(name.slice(0, 40))} was sent more than once.`,
        details: 'Send every field once.',
      })
    form.set(name, value)
  }
  return form
}
