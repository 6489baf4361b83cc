/** What may have been signed, if the body was changed on its way to whoever caught it. */
export interface BodyVariant {
  /** Ends the sentence "The signature fits the body …". */
  readonly says: string
  readonly why: string
  readonly body: string | Buffer
}

const PARSED = 'It was parsed and printed again, so spaces, line breaks or escapes differ.'

export function bodyVariants(body: string): BodyVariant[] {
  const variants: BodyVariant[] = [
    {
      says: 'without the line break at its end',
      why: 'A line break was added.',
      body: body.replace(/[\r\n]+$/, ''),
    },
    {
      says: 'with plain line feeds',
      why: 'Line ends were turned into CRLF.',
      body: body.replaceAll('\r\n', '\n'),
    },
    {
      says: 'without its byte order mark',
      why: 'A byte order mark was put before it.',
      body: body.replace(/^\ufeff/, ''),
    },
    {
      says: 'read as UTF-8',
      why: 'Its bytes were taken for Latin-1.',
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

/** As Jeton writes them. */
const ENVELOPE = ['id', 'project_id', 'created_at', 'type', 'data', 'source', 'event']

/** What can be seen of a body that cannot be had back; undefined where there is nothing to see. */
export function damageOf(body: string, contentLength: string | undefined): string | undefined {
  const length = Buffer.byteLength(body)
  if (contentLength !== undefined && Number(contentLength) !== length)
    return `Content-Length says ${Number(contentLength)} bytes and there are ${length}`
  const value = parsed(body)
  if (value === undefined) return 'it is not JSON'
  const keys = Object.keys(value ?? {}).filter((key) => ENVELOPE.includes(key))
  const ordered = ENVELOPE.filter((key) => keys.includes(key))
  if (keys.join() !== ordered.join()) return 'its keys are in another order than Jeton writes them'
  return keys.length < ENVELOPE.length ? 'it is not the envelope of an event' : undefined
}

/** The id that the body itself tells; nothing else, since it is printed. */
export function idIn(body: string): string | undefined {
  const { id } = (parsed(body) ?? {}) as { id?: unknown }
  return typeof id === 'string' && /^[\w-]{1,80}$/.test(id) ? id : undefined
}
