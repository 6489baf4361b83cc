import { wrongUsage } from '../exit.ts'

/** A captured request: from a log, a proxy, or a file written by hand. */
export interface CapturedRequest {
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

const REQUEST_LINE = /^[A-Z]+ \S+( HTTP\/[\d.]+)?$/
const HEADER = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):\s*(.*?)\s*$/

/** Parses raw HTTP. The request line is optional; lines end in LF or CRLF. */
export function readRequest(text: string): CapturedRequest {
  const [, head, body] = /^\s*([\s\S]*?)(?:\r?\n\r?\n([\s\S]*))?$/.exec(text) ?? []
  const lines = (head ?? '').trimEnd().split(/\r?\n/)
  if (REQUEST_LINE.test(lines[0]!)) lines.shift()
  const headers = readHeaders(lines)
  return { headers, body: withinLength(body ?? '', headers) }
}

export function readHeaders(lines: readonly string[]): Map<string, string> {
  const headers = new Map<string, string>()
  for (const line of lines) {
    const [, name, value] = HEADER.exec(line) ?? []
    if (name === undefined) throw notHttp(line)
    headers.set(name.toLowerCase(), value!)
  }
  return headers
}

/** Does not repeat the line, which can be anything. */
const notHttp = (line: string) =>
  wrongUsage(
    line.startsWith('{')
      ? "This is a body without headers. Add them with --header 'webhook-id: …', or pass the whole request: headers, an empty line, the body."
      : 'This is not a request. Expected headers such as "webhook-id: whs_…", an empty line, then the body.',
  )

/** Removes the line break that editors add, if Content-Length shows that it was not sent. */
function withinLength(body: string, headers: ReadonlyMap<string, string>): string {
  const length = Number(headers.get('content-length') ?? Number.NaN)
  const bytes = Buffer.from(body)
  const rest = bytes.subarray(length).toString()
  return length < bytes.length && /^[\r\n]*$/.test(rest) ? bytes.subarray(0, length).toString() : body
}

/** A body that may have been signed, if the captured one was changed in transit. */
export interface BodyVariant {
  /** Ends the sentence "the signature matches the body …". */
  readonly says: string
  readonly why: string
  readonly body: string | Buffer
}

const PARSED = 'It was parsed and serialized again, so spaces, line breaks or escapes differ.'

export function bodyVariants(body: string): BodyVariant[] {
  const variants: BodyVariant[] = [
    {
      says: 'without the line break at its end',
      why: 'A line break was added.',
      body: body.replace(/[\r\n]+$/, ''),
    },
    {
      says: 'with plain line feeds',
      why: 'Line endings were changed to CRLF.',
      body: body.replaceAll('\r\n', '\n'),
    },
    {
      says: 'without its byte order mark',
      why: 'A byte order mark was added.',
      body: body.replace(/^\ufeff/, ''),
    },
    {
      says: 'read as UTF-8',
      why: 'Its bytes were decoded as Latin-1.',
      body: Buffer.from(body, 'latin1'),
    },
    ...parsedVariants(body),
  ]
  return variants.filter((one) => !Buffer.from(body).equals(Buffer.from(one.body)))
}

function parsedVariants(body: string): BodyVariant[] {
  const value = parsed(body)
  if (typeof value === 'string')
    return [{ says: 'inside this JSON string', why: 'The body was quoted as a JSON string.', body: value }]
  return value === undefined ? [] : [{ says: 'as compact JSON', why: PARSED, body: JSON.stringify(value) }]
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

/** The keys of an event, in the order that Jeton writes them. */
const ENVELOPE = ['id', 'project_id', 'created_at', 'type', 'data', 'source', 'event']

/** Visible damage of a body that cannot be restored; undefined if there is none. */
export function damageOf(body: string, contentLength: string | undefined): string | undefined {
  const length = Buffer.byteLength(body)
  if (contentLength !== undefined && Number(contentLength) !== length)
    return `Content-Length is ${Number(contentLength)} bytes, and the body has ${length}`
  const value = parsed(body)
  if (value === undefined) return 'it is not JSON'
  const keys = Object.keys(value ?? {}).filter((key) => ENVELOPE.includes(key))
  const ordered = ENVELOPE.filter((key) => keys.includes(key))
  if (keys.join() !== ordered.join()) return 'its keys are not in the order that Jeton writes'
  return keys.length < ENVELOPE.length ? 'it is not an event' : undefined
}

/** The id in the body, if it is safe to print. */
export function idIn(body: string): string | undefined {
  const { id } = (parsed(body) ?? {}) as { id?: unknown }
  return typeof id === 'string' && /^[\w-]{1,80}$/.test(id) ? id : undefined
}
