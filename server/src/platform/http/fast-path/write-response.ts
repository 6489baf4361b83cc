import { STATUS_CODES } from 'node:http'

/** A response. Headers are alternating names and values; date, length and connection are added when it is written. */
export interface FastResponse {
  readonly status: number
  readonly headers: readonly string[]
  readonly text: string
}

/** Excludes characters that could end a line or that clients read differently. */
const SAFE = /^[\x20-\x7e]*$/

let [second, line] = [0, '']

/** Created once per second, like in Node. */
function dateLine(): string {
  const now = Math.floor(Date.now() / 1000)
  if (now !== second) line = `Date: ${new Date(now * 1000).toUTCString()}\r\n`
  second = now
  return line
}

/** Returns the bytes that Node would send, and their encoding. Throws if a header would break the response. */
export function writeResponse(
  { status, headers, text }: FastResponse,
  keepAliveSeconds: number | undefined,
): [text: string, encoding: 'latin1' | 'utf8'] {
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`
  for (let i = 0; i < headers.length; i += 2) {
    const value = headers[i + 1]!
    if (!SAFE.test(value)) throw new Error(`the header ${headers[i]} contains an invalid character`)
    head += `${headers[i]}: ${value}\r\n`
  }
  const connection =
    keepAliveSeconds === undefined
      ? 'Connection: close'
      : `Connection: keep-alive\r\nKeep-Alive: timeout=${keepAliveSeconds}`
  const bytes = Buffer.byteLength(text)
  const whole = `${head}content-length: ${bytes}\r\n${dateLine()}${connection}\r\n\r\n${text}`
  // ASCII has the same bytes in both encodings, and latin1 is faster.
  return [whole, bytes === text.length ? 'latin1' : 'utf8']
}
