import { isUtf8 } from 'node:buffer'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { IsOptional } from 'typebox'
import { Problem } from '../../contract/problem.ts'
import type { App } from './app.ts'
import { FORM, invalidPayload, sentTwice, wrongMediaType } from './errors.ts'
import { explainValidation } from './validation-messages.ts'

export const JSON_LIMIT_BYTES = 1024 * 1024
export const FORM_LIMIT_BYTES = 16 * 1024

function decodeUtf8(body: Buffer): string {
  if (!isUtf8(body)) throw invalidPayload('The body is not valid UTF-8.', 'Encode it as UTF-8.')
  return body.toString()
}

/** Text without a match has no NUL, no lone surrogate (which the engines store differently) and no `__proto__`. */
const SUSPICIOUS = /\\u(00|d[89a-f])|__proto__/i
/** Far deeper than any body of the API, and within the limits of common receivers of events. */
const MAX_DEPTH = 64

/** Counts brackets outside of strings before parsing and without recursion: a deep body would exhaust the stack. */
function refuseDeep(text: string): void {
  let [depth, isString] = [0, false]
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (c === 0x22) isString = !isString
    else if (isString) i += c === 0x5c ? 1 : 0
    else if (c === 0x7b || c === 0x5b) depth++
    else if (c === 0x7d || c === 0x5d) depth--
    if (depth > MAX_DEPTH)
      throw invalidPayload('The body is nested too deeply.', `Send at most ${MAX_DEPTH} levels.`)
  }
}

function refuseUnstorable(value: unknown): void {
  if (typeof value === 'string') {
    if (value.includes('\0') || !value.isWellFormed())
      throw invalidPayload(
        'The body contains a null character or an unpaired surrogate.',
        'Remove the character.',
      )
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, inner] of Object.entries(value)) {
      if (name === '__proto__') throw invalidPayload('"__proto__" is not a field here.', 'Remove it.')
      refuseUnstorable(name)
      refuseUnstorable(inner)
    }
  }
}

export function parseJson(body: Buffer): unknown {
  // `curl -X POST -H 'Content-Type: application/json'` sends no body.
  if (body.length === 0) return undefined
  const text = decodeUtf8(body)
  refuseDeep(text)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    const message = `The body is not valid JSON: ${syntaxErrorPosition(error as Error)}.`
    throw invalidPayload(message, 'Check quotes, commas and brackets.')
  }
  if (SUSPICIOUS.test(text)) refuseUnstorable(value)
  return value
}

/** Returns only the position, because the parser's message quotes the text, which may contain a secret. */
function syntaxErrorPosition(error: Error): string {
  if (error.message.startsWith('Unexpected end')) return 'unexpected end'
  // A message that quotes the text has no position, but the quote may look like one.
  const position = /^[^"]*in JSON at position (\d+)/.exec(error.message)?.[1]
  return position ? `unexpected character at position ${position}` : 'unexpected character'
}

/** A form of the OAuth endpoints: every field once, strictly percent-encoded. */
export type Form = ReadonlyMap<string, string>

function decodeField(text: string): string {
  if (!text.includes('%') && !text.includes('+')) return text
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw invalidPayload('The form is not valid: bad percent-encoding.', `Encode it as ${FORM} in UTF-8.`)
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
      throw invalidPayload('The form contains a null character.', 'Remove it.')
    if (form.has(name))
      throw sentTwice(
        `${JSON.stringify(name.slice(0, 40))} was sent more than once.`,
        'Send every field once.',
      )
    form.set(name, value)
  }
  return form
}

/** OAuth endpoints accept forms, the gateway ignores bodies, all other endpoints accept JSON. */
export function addBodyParsers(app: App): void {
  type Done = (error: Error | null, body?: unknown) => void
  const parser =
    (type: FastifyRequest['bodyType'] | 'unknown', parse: (body: Buffer) => unknown) =>
    ({ bodyType }: FastifyRequest, body: Buffer, done: Done) => {
      try {
        if (bodyType === 'nothing') return done(null)
        if (bodyType !== type) throw wrongMediaType(bodyType === 'form')
        done(null, parse(body))
      } catch (error) {
        done(error as Error)
      }
    }
  const [parseAs, ignore] = ['buffer' as const, () => undefined]
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs }, parser('json', parseJson))
  app.addContentTypeParser(FORM, { parseAs, bodyLimit: FORM_LIMIT_BYTES }, parser('form', parseForm))
  app.addContentTypeParser('*', { parseAs }, parser('unknown', ignore))
}

type Hook = (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => void

const MISSING_BODY = {
  message: 'The body is missing.',
  details: 'Send JSON; the API reference at /docs shows every field.',
}

/** Treats a missing body as an empty one if nothing is required, or if validation can name the missing field. */
export function requireBody(schema: object): Hook {
  const mayBeEmpty = IsOptional(schema) || 'required' in schema
  return (request, _, done) => {
    if (request.body === undefined && !mayBeEmpty) throw new Problem('missing_parameters', MISSING_BODY)
    if (request.body === undefined) request.body = {}
    done()
  }
}

/** Refuses fields on routes without a body schema, which would ignore them silently. */
export const refuseFields: Hook = ({ body }, _, done) => {
  const refuse = (keyword: string, params: object) =>
    explainValidation([{ keyword, instancePath: '', params: { ...params } }], 'body')
  if (typeof (body ?? {}) !== 'object' || Array.isArray(body)) throw refuse('type', { type: 'object' })
  const [additionalProperty] = Object.keys(body ?? {})
  if (additionalProperty !== undefined) throw refuse('additionalProperties', { additionalProperty })
  done()
}
