import { ownText } from '../own-text.ts'
import type { Arrived } from './quick-answers.ts'

/** A request that was read by hand. */
export interface PlainRequest extends Arrived {
  readonly method: string
  readonly url: string
  /** Where its body begins in what has come, and where it is to end. */
  readonly bodyAt: number
  readonly end: number
  readonly keepsAlive: boolean
}

/** What has come on a connection: the bytes, and the same as text. */
interface Came {
  readonly came: Buffer
  readonly text: string
  readonly socket: Arrived['socket']
}

export interface FirstLine {
  readonly method: string
  readonly url: string
}

/** Far less than what Node takes; who sends more is left to it. */
const HEAD_MOST = 8 * 1024
const VERSION = ' HTTP/1.1'
/** Methods of which the answer has a body, and the request has none unless it names a length. */
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** Every line a name, a colon, a space, and ASCII that neither begins nor ends with a space. */
const LINES = /^(?:[A-Za-z0-9-]+: [!-~](?:[ -~]*[!-~])?\r\n)+$/
const LENGTH = /^(?:0|[1-9]\d{0,5})$/
/** What changes where a message ends or what becomes of its connection, and the one that Node makes a list of. */
const NOT_PLAIN = new Set([
  'transfer-encoding',
  'trailer',
  'te',
  'upgrade',
  'expect',
  'set-cookie',
  'proxy-connection',
])

const NAMES_KEPT = 1_000
const NAME_MOST = 40
const lowerCased = new Map<string, string>()

/** The same names come again and again. */
function lowerCase(sent: string): string {
  const known = lowerCased.get(sent)
  if (known !== undefined) return known
  const name = ownText(sent.toLowerCase())
  if (lowerCased.size >= NAMES_KEPT) lowerCased.clear()
  if (name.length <= NAME_MOST) lowerCased.set(ownText(sent), name)
  return name
}

/** `POST /v1/oauth/token`, where the first line is that and the version, and nothing else. */
export function methodAndUrlIn(text: string): string | undefined {
  const end = text.indexOf('\r\n') - VERSION.length
  return end > 0 && text.startsWith(VERSION, end) ? text.slice(0, end) : undefined
}

/**
 * Reads a request of the plainest kind of HTTP/1.1, in which nobody could see another message than we do: one space here and
 * none there, nothing folded, nothing repeated, a length in digits or no body at all. Undefined is whatever differs by a
 * byte: that is Node's to read. The first line is given, since whoever asks has compared it with those that are wanted.
 */
export function readPlainRequest(
  { came, text, socket }: Came,
  { method, url }: FirstLine,
): PlainRequest | undefined {
  const linesAt = method.length + 1 + url.length + VERSION.length + 2
  const headEnd = text.indexOf('\r\n\r\n', linesAt) + 2
  if (headEnd < linesAt || headEnd > HEAD_MOST || !METHODS.includes(method)) return undefined
  if (!LINES.test(text.slice(linesAt, headEnd))) return undefined
  const headers: Record<string, string> = {}
  const rawHeaders: string[] = []
  for (let at = linesAt; at < headEnd; ) {
    const colon = text.indexOf(':', at)
    const lineEnd = text.indexOf('\r\n', colon)
    const sent = text.slice(at, colon)
    const name = lowerCase(sent)
    if (headers[name] !== undefined || NOT_PLAIN.has(name)) return undefined
    // Not a piece of the text: whoever keeps it would keep all of that.
    const value = came.toString('latin1', colon + 2, lineEnd)
    headers[name] = value
    rawHeaders.push(sent, value)
    at = lineEnd + 2
  }
  const { host, connection, 'content-length': length = '0' } = headers
  const keepsAlive = keepsAliveBy(connection)
  if (host === undefined || keepsAlive === undefined || !LENGTH.test(length)) return undefined
  const bodyAt = headEnd + 2
  const [httpVersionMinor, complete, end] = [1, true, bodyAt + Number(length)]
  return { method, url, headers, rawHeaders, httpVersionMinor, complete, socket, bodyAt, end, keepsAlive }
}

function keepsAliveBy(connection = 'keep-alive'): boolean | undefined {
  const wish = connection.toLowerCase()
  return wish === 'keep-alive' ? true : wish === 'close' ? false : undefined
}
