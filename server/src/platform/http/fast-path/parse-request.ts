import type { RawRequest } from '../app.ts'

/** A request that the fast path has parsed. */
export interface ParsedRequest extends RawRequest {
  readonly method: string
  readonly url: string
  /** Positions of the body in the received bytes. */
  readonly bodyAt: number
  readonly end: number
  readonly keepsAlive: boolean
}

/** Far below Node's limit; larger heads are left to Node. */
const MAX_HEAD_BYTES = 8 * 1024
const VERSION = ' HTTP/1.1'
/** Methods whose response has a body and whose request has one only with a `Content-Length`. */
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** Every line is a name, a colon, a space, and ASCII without leading or trailing spaces. */
const LINES = /^(?:[A-Za-z0-9-]+: [!-~](?:[ -~]*[!-~])?\r\n)+$/
const LENGTH = /^(?:0|[1-9]\d{0,5})$/
/** Headers that affect framing or the connection, and one that Node turns into a list. */
const LEFT_TO_NODE = new Set(
  'transfer-encoding trailer te upgrade expect set-cookie proxy-connection'.split(' '),
)

/** Returns the method and URL of the first line, for example `POST /v1/oauth/token`, if the version is 1.1. */
export function methodAndUrlIn(text: string): string | undefined {
  const end = text.indexOf('\r\n') - VERSION.length
  return end > 0 && text.startsWith(VERSION, end) ? text.slice(0, end) : undefined
}

/**
 * Parses only requests that all parsers read the same way: exactly one space or none, nothing folded, nothing repeated, and
 * a length in digits or no body. Returns undefined for everything else, which is left to Node. The caller has already
 * matched the request line with the routes.
 */
export function parseRequest(
  { bytes, text, socket }: { bytes: Buffer; text: string; socket: RawRequest['socket'] },
  { method, url }: { readonly method: string; readonly url: string },
): ParsedRequest | undefined {
  const linesAt = method.length + 1 + url.length + VERSION.length + 2
  const headEnd = text.indexOf('\r\n\r\n', linesAt) + 2
  if (headEnd < linesAt || headEnd > MAX_HEAD_BYTES || !METHODS.includes(method)) return undefined
  if (!LINES.test(text.slice(linesAt, headEnd))) return undefined
  const headers: Record<string, string> = {}
  const rawHeaders: string[] = []
  for (let at = linesAt; at < headEnd; ) {
    const colon = text.indexOf(':', at)
    const lineEnd = text.indexOf('\r\n', colon)
    const sent = text.slice(at, colon)
    const name = sent.toLowerCase()
    if (headers[name] !== undefined || LEFT_TO_NODE.has(name)) return undefined
    // Read from the bytes, because a substring would keep the whole text in memory.
    const value = bytes.toString('latin1', colon + 2, lineEnd)
    headers[name] = value
    rawHeaders.push(sent, value)
    at = lineEnd + 2
  }
  const { host, connection, 'content-length': length = '0' } = headers
  const keepsAlive = parseConnection(connection)
  if (host === undefined || keepsAlive === undefined || !LENGTH.test(length)) return undefined
  const bodyAt = headEnd + 2
  const [httpVersionMinor, complete, end] = [1, true, bodyAt + Number(length)]
  return { method, url, headers, rawHeaders, httpVersionMinor, complete, socket, bodyAt, end, keepsAlive }
}

function parseConnection(connection = 'keep-alive'): boolean | undefined {
  const value = connection.toLowerCase()
  return value === 'keep-alive' ? true : value === 'close' ? false : undefined
}
