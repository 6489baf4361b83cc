import { wrongUsage } from '../exit.ts'

/** A request as someone caught it: from a log, a proxy, or a file that was written by hand. */
export interface CapturedRequest {
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

const REQUEST_LINE = /^[A-Z]+ \S+( HTTP\/[\d.]+)?$/
const HEADER = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):\s*(.*?)\s*$/

/** Raw HTTP as text: the request line may be missing, lines may end in either way. */
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

/** The line is not repeated: it may be anything, and long. */
const notHttp = (line: string) =>
  wrongUsage(
    line.startsWith('{')
      ? "This is a body without headers. Give them as well: --header 'webhook-id: …', or the whole request: headers, an empty line, the body."
      : 'This is not a request: headers such as "webhook-id: whs_…", an empty line, then the body.',
  )

/** Editors end a file with a line break that was never sent; the length that was announced tells. */
function withinLength(body: string, headers: ReadonlyMap<string, string>): string {
  const length = Number(headers.get('content-length') ?? Number.NaN)
  const bytes = Buffer.from(body)
  const rest = bytes.subarray(length).toString()
  return length < bytes.length && /^[\r\n]*$/.test(rest) ? bytes.subarray(0, length).toString() : body
}
