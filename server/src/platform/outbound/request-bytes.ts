import type { Places } from './places.ts'

/** Where requests go, read once. */
export interface Target {
  readonly url: URL
  /** The request line, and the headers that are the same for all. */
  readonly start: string
}

/** For about as many destinations as send at a time. */
const TARGETS_KEPT = 2_000

/** Reading an address costs as much as writing the request to it. */
export class Targets {
  readonly #known = new Map<string, Target>()

  of(address: string): Target {
    const known = this.#known.get(address)
    if (known) return known
    const url = new URL(address)
    const start = `POST ${url.pathname}${url.search} HTTP/1.1\r\nhost: ${url.host}\r\nconnection: keep-alive\r\n`
    if (this.#known.size >= TARGETS_KEPT) this.#known.delete(this.#known.keys().next().value!)
    const target = { url, start }
    this.#known.set(address, target)
    return target
  }
}

/** RFC 9110 §5.6.2, and none that says where the request ends, or where it goes. */
const NAME =
  /^(?!(?:host|connection|content-length|transfer-encoding|expect|upgrade|te|trailer)$)[\w!#$%&'*+.^`|~-]+$/i
/** Those that have been looked at; they are nearly always the same. */
const NAMES_KEPT = 1_000
const good = new Set<string>()

function isName(name: string): boolean {
  if (good.has(name)) return true
  if (!NAME.test(name)) return false
  if (good.size < NAMES_KEPT) good.add(name)
  return true
}

/** RFC 9110 §5.5. What does not fit might begin a header, or a request, of its own. */
const NO_VALUE = /[^\t\x20-\x7e\x80-\xff]/

interface Sent {
  readonly headers: Readonly<Record<string, string>>
  readonly userAgent: string
  readonly body: Buffer
}

/** A whole request, in one piece: two would be two packets. */
export interface WrittenRequest {
  readonly place: Buffer
  /** How much of it is the request. */
  readonly length: number
}

export function writeRequest(
  places: Places,
  { start }: Target,
  { headers, userAgent, body }: Sent,
): WrittenRequest {
  let head = start
  for (const name in headers) {
    const value = headers[name]!
    if (!isName(name) || NO_VALUE.test(value)) throw new TypeError(`the header ${name} cannot be sent`)
    head += `${name}: ${value}\r\n`
  }
  head += `user-agent: ${userAgent}\r\ncontent-length: ${body.length}\r\n\r\n`
  const length = head.length + body.length
  const place = places.take(length)
  place.write(head, 'latin1')
  place.set(body, head.length)
  return { place, length }
}
