import { AnswerBody } from './answer-body.ts'

/** Of an answer, in all, and of the trailers behind its chunks. As much as of its body. */
export const HEADERS_MAX_BYTES = 16 * 1024

/** Of messages that only announce an answer (1xx). Without end they would keep the whole process busy. */
export const HINTS_MAX = 100

/** What is not HTTP, and why, where that is known. */
export class NotHttp extends Error {
  override readonly name = 'NotHttp'
}

/** Headers, or trailers, without end. */
export class HeadersTooLong extends Error {
  override readonly name = 'HeadersTooLong'
}

/** Announced, but never asked for (100, 101), or announced again and again. */
export class Unasked extends Error {
  override readonly name = 'Unasked'
}

/** What the next byte belongs to. */
type Place =
  | 'head'
  | 'body'
  | 'chunk size'
  | 'chunk'
  | 'end of chunk'
  | 'trailers'
  | 'all that follows'
  | 'nothing'

const STARTS = ['HTTP/1.1 ', 'HTTP/1.0 ']
const START_LENGTH = 9
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [^\r\n\0]*)?\r\n/
const FIELD = /([\w!#$%&'*+.^`|~-]+):[ \t]*([^\r\n\0]*)\r\n/y
const CHUNK_SIZE = /^([\da-fA-F]{1,8})(?:;[!-~][\t\x20-\x7e\x80-\xff]*)?$/
const LENGTH = /^\d{1,15}$/
const CHUNKED = /(?:^|,)[ \t]*chunked$/i
const CLOSES = /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i
const TIMEOUT = /(?:^|[,; ])timeout=(\d{1,6})/i
const [CR, LF] = [13, 10]
/** Said once, or it is not clear where the answer ends. */
const FRAMING = new Set(['content-length', 'transfer-encoding'])

/**
 * Reads one answer of HTTP/1.1 as it comes, in bounded memory. Strict where leniency would leave open where an answer
 * ends: such a receiver is told what is wrong, and its connection is closed.
 */
export class AnswerReader {
  /** Null until its headers have come. */
  status: number | null = null
  readonly body = new AnswerBody()
  /** As it was announced. */
  length: number | null = null
  /** How long the receiver keeps a connection that is not used, where it says so. */
  idleMs: number | null = null
  #fields: ReadonlyMap<string, string> = new Map()
  #place: Place = 'head'
  /** Of the body, or of the present chunk, still to come. */
  #left = 0
  /** What came of a line, or of the headers, that has not come to its end. */
  #rest: Buffer | null = null
  #trailerBytes = 0
  #hints = 0
  #staysOpen = true
  hasBegun = false

  get isWhole(): boolean {
    return this.#place === 'nothing'
  }

  /** Whether the next request may go over the same connection. */
  get staysOpen(): boolean {
    return this.isWhole && this.#staysOpen
  }

  field(name: string): string | null {
    return this.#fields.get(name) ?? null
  }

  /** Throws where it is not an answer. The bytes are the caller's again afterwards. */
  read(chunk: Buffer): void {
    this.hasBegun = true
    const bytes = this.#rest ? Buffer.concat([this.#rest, chunk]) : chunk
    this.#rest = null
    let at = 0
    while (at < bytes.length && !this.isWhole && !this.body.isTooLong) {
      const next = this.#step(bytes, at)
      if (next === at) {
        this.#rest = Buffer.from(bytes.subarray(at))
        return
      }
      at = next
    }
    // Whoever says more than the answer would say it into the next one.
    if (at < bytes.length) this.#staysOpen = false
  }

  /** The other side says no more: whether that was the end of its answer. */
  endsHere(): boolean {
    if (this.#place === 'all that follows') this.#place = 'nothing'
    return this.isWhole
  }

  /** How far it has come; the same place where more is needed first. */
  #step(bytes: Buffer, at: number): number {
    switch (this.#place) {
      case 'head':
        return this.#readHead(bytes, at)
      case 'chunk size':
        return this.#readLine(bytes, at, this.#beginChunk)
      case 'trailers':
        return this.#readLine(bytes, at, this.#readTrailer)
      case 'end of chunk':
        return this.#readLine(bytes, at, this.#endChunk)
      case 'all that follows':
        this.body.add(bytes.subarray(at))
        return bytes.length
      default:
        return this.#readBody(bytes, at)
    }
  }

  #readHead(bytes: Buffer, from: number): number {
    // Some say a blank line first.
    let at = from
    while (bytes[at] === CR || bytes[at] === LF) at++
    const end = bytes.indexOf('\r\n\r\n', at, 'latin1')
    const length = (end < 0 ? bytes.length : end) - from
    if (!startsAsHttp(bytes.toString('latin1', at, Math.min(at + START_LENGTH, bytes.length))))
      throw new NotHttp()
    if (length > HEADERS_MAX_BYTES) throw new HeadersTooLong()
    if (end < 0) return from
    this.#begin(bytes.toString('latin1', at, end + 2))
    return end + 4
  }

  #begin(head: string): void {
    const line = STATUS_LINE.exec(head)
    if (!line) throw new NotHttp('its first line')
    const status = Number(line[2])
    const fields = fieldsOf(head, line[0].length)
    if (status >= 200) this.#beginAnswer(status, fields, line[1] === '0')
    else if (status <= 101) throw new Unasked('answered with 1xx, which was not asked for')
    else if (++this.#hints > HINTS_MAX)
      throw new Unasked(`announced an answer ${HINTS_MAX} times and sent none`)
  }

  #beginAnswer(status: number, fields: ReadonlyMap<string, string>, isOld: boolean): void {
    const [length, coding] = [fields.get('content-length'), fields.get('transfer-encoding')]
    if (length !== undefined && coding !== undefined) throw new NotHttp('both a length and chunks')
    if (length !== undefined && !LENGTH.test(length)) throw new NotHttp('its content-length')
    this.status = status
    this.#fields = fields
    this.length = length === undefined ? null : Number(length)
    this.#staysOpen = !isOld && !CLOSES.test(fields.get('connection') ?? '')
    const idle = TIMEOUT.exec(fields.get('keep-alive') ?? '')
    if (idle) this.idleMs = Number(idle[1]) * 1000
    this.#left = this.length ?? 0
    if (status === 204 || status === 304) this.#place = 'nothing'
    else if (coding !== undefined && CHUNKED.test(coding)) this.#place = 'chunk size'
    else if (this.length === null) this.#place = 'all that follows'
    else this.#place = this.#left === 0 ? 'nothing' : 'body'
  }

  #readBody(bytes: Buffer, at: number): number {
    const end = Math.min(at + this.#left, bytes.length)
    this.body.add(bytes.subarray(at, end))
    this.#left -= end - at
    if (this.#left === 0) this.#place = this.#place === 'chunk' ? 'end of chunk' : 'nothing'
    return end
  }

  #readLine(bytes: Buffer, at: number, take: (line: string) => void): number {
    const end = bytes.indexOf('\r\n', at, 'latin1')
    const length = (end < 0 ? bytes.length : end) - at
    if (this.#place === 'trailers' && this.#trailerBytes + length > HEADERS_MAX_BYTES)
      throw new HeadersTooLong()
    if (length > HEADERS_MAX_BYTES || (this.#place === 'end of chunk' && length > 1)) throw new NotHttp()
    if (end < 0) return at
    take(bytes.toString('latin1', at, end))
    return end + 2
  }

  readonly #beginChunk = (line: string): void => {
    const size = CHUNK_SIZE.exec(line)
    if (!size) throw new NotHttp('the size of a chunk')
    this.#left = Number.parseInt(size[1]!, 16)
    this.#place = this.#left === 0 ? 'trailers' : 'chunk'
  }

  readonly #endChunk = (line: string): void => {
    if (line !== '') throw new NotHttp('the end of a chunk')
    this.#place = 'chunk size'
  }

  readonly #readTrailer = (line: string): void => {
    this.#trailerBytes += line.length + 2
    if (line === '') this.#place = 'nothing'
    else fieldsOf(`${line}\r\n`, 0)
  }
}

/** As far as it has come. */
const startsAsHttp = (text: string): boolean => STARTS.some((start) => start.startsWith(text))

/** By their names without capitals; of those that come again the first counts. */
function fieldsOf(head: string, from: number): Map<string, string> {
  const fields = new Map<string, string>()
  let at = from
  while (at < head.length) {
    FIELD.lastIndex = at
    const found = FIELD.exec(head)
    if (!found) throw new NotHttp('a header')
    const name = found[1]!.toLowerCase()
    if (!fields.has(name)) fields.set(name, found[2]!.trimEnd())
    else if (FRAMING.has(name)) throw new NotHttp(`${name} twice`)
    at = FIELD.lastIndex
  }
  return fields
}
