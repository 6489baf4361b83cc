import { STATUS_CODES } from 'node:http'
import type { Answer } from './quick-answers.ts'

/** Nothing that could end a line, or that is read differently here and there. */
const SAFE = /^[\x20-\x7e]*$/

let dated = 0
let date = ''

/** As Node does it: made once a second. */
function dateLine(): string {
  const second = Math.floor(Date.now() / 1000)
  if (second !== dated) {
    dated = second
    date = `Date: ${new Date(second * 1000).toUTCString()}\r\n`
  }
  return date
}

/**
 * An answer as it goes over the wire, byte for byte what Node would make of it, and how to encode it. Throws where a header
 * would break it.
 */
export function plainAnswer(
  { status, headers, text }: Answer,
  keepAliveSeconds: number | undefined,
): [text: string, encoding: 'latin1' | 'utf8'] {
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`
  for (let i = 0; i < headers.length; i += 2) {
    const value = headers[i + 1]!
    if (!SAFE.test(value)) throw new Error(`the header ${headers[i]} has a character that must not be sent`)
    head += `${headers[i]}: ${value}\r\n`
  }
  const connection =
    keepAliveSeconds === undefined
      ? 'Connection: close'
      : `Connection: keep-alive\r\nKeep-Alive: timeout=${keepAliveSeconds}`
  const bytes = Buffer.byteLength(text)
  const whole = `${head}content-length: ${bytes}\r\n${dateLine()}${connection}\r\n\r\n${text}`
  // ASCII is the same bytes in both, without a look at each.
  return [whole, bytes === text.length ? 'latin1' : 'utf8']
}
