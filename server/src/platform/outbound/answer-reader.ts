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
/** The value begins with what is no blank: where it might, a failure would be looked for over and over. */
const FIELD = /([\w!#$%&'*+.^`|~-]+):[ \t]*((?:[!-~\x80-\xff][\t\x20-\x7e\x80-\xff]*)?)\r\n/y
const CHUNK_SIZE = /^0*([\da-fA-F]{1,8})(?:;[!-~][\t\x20-\x7e\x80-\xff]*)?$/
const LENGTH = /^0*\d{1,15}$/
const CODINGS = /^[\w-]+(?:[ \t]*,[ \t]*[\w-]+)*$/
const CHUNKED = /(?:^|,)[ \t]*chunked$/i
const CLOSES = /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i
const TIMEOUT = /(?:^|[,; ])timeout=(\d{1,6})/i
const [CR, LF] = [13, 10]
/** Lists, which may come in several lines. */
const LISTS = new Set(['connection', 'transfer-encoding'])
/** A line that ends without CR, or a CR that ends none. */
const BARE = /[^\r]\n|\r[^\n]/

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
  #head: Head | null = null
  #place: Place = 'head'
  /** Of the body, or of the present chunk, still to come. */
  #left = 0
  /** What came of a line, or of the headers, that has not come to its end. */
  #rest: Buffer | null = null
  /** How much of it was searched for the end of the headers. */
  #searched = 0
  #blankBytes = 0
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
    return this.#head?.fields.get(name) ?? null
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

  #readHead(bytes: Buffer, at: number): number {
    const blank = this.#blankAt(bytes, at)
    if (blank > 0) return at + blank
    const from = at + Math.max(0, this.#searched - 3)
    const end = bytes.indexOf('\r\n\r\n', from, 'latin1')
    if (end >= 0 && end - at <= HEADERS_MAX_BYTES) {
      this.#searched = 0
      this.#begin(headOf(bytes.toString('latin1', at, end + 2)))
      return end + 4
    }
    expectHttp(bytes.toString('latin1', at, Math.min(at + START_LENGTH, bytes.length)))
    if ((end < 0 ? bytes.length : end) - at > HEADERS_MAX_BYTES) throw new HeadersTooLong()
    if (BARE.test(bytes.toString('latin1', from)))
      throw new NotHttp('a line that does not end with CR and LF')
    this.#searched = bytes.length - at
    return at
  }

  /** Some say a blank line first. */
  #blankAt(bytes: Buffer, at: number): number {
    let end = at
    while (this.#searched === 0 && (bytes[end] === CR || bytes[end] === LF)) end++
    this.#blankBytes += end - at
    if (this.#blankBytes > HEADERS_MAX_BYTES) throw new HeadersTooLong()
    return end - at
  }

  #begin(head: Head): void {
    if (head.status >= 200) this.#beginAnswer(head)
    else if (head.status <= 101) throw new Unasked('answered with 1xx, which was not asked for')
    else if (++this.#hints > HINTS_MAX)
      throw new Unasked(`announced an answer ${HINTS_MAX} times and sent none`)
  }

  #beginAnswer(head: Head): void {
    const { status, length, coding } = head
    this.#head = head
    this.status = status
    this.length = length
    this.#staysOpen = head.staysOpen
    this.idleMs = head.idleMs
    this.#left = length ?? 0
    if (status === 204 || status === 304) {
      this.#place = 'nothing'
      // It has no body, and announces one: whoever sends it all the same would send it into the next answer.
      if (this.#left > 0 || coding !== null) this.#staysOpen = false
    } else if (coding !== null && CHUNKED.test(coding)) this.#place = 'chunk size'
    else if (length === null) this.#place = 'all that follows'
    else this.#place = this.#left === 0 ? 'nothing' : 'body'
  }

  #readBody(bytes: Buffer, at: number): number {
    const end = Math.min(at + this.#left, bytes.length)
    this.body.add(bytes.subarray(at, end))
    this.#left -= end - at
    if (this.#left === 0) this.#place = this.#place === 'chunk' ? 'end of chunk' : 'nothing'
    return end
  }

  #readLine(bytes: Buffer, at: number, take: (this: this, line: string) => void): number {
    const end = bytes.indexOf('\r\n', at, 'latin1')
    const length = (end < 0 ? bytes.length : end) - at
    if (this.#place === 'trailers' && this.#trailerBytes + length > HEADERS_MAX_BYTES)
      throw new HeadersTooLong()
    if (length > HEADERS_MAX_BYTES || (this.#place === 'end of chunk' && length > 1)) throw new NotHttp()
    if (end < 0) return at
    take.call(this, bytes.toString('latin1', at, end))
    return end + 2
  }

  #beginChunk(line: string): void {
    const size = CHUNK_SIZE.exec(line)
    if (!size) throw new NotHttp('the size of a chunk')
    this.#left = Number.parseInt(size[1]!, 16)
    this.#place = this.#left === 0 ? 'trailers' : 'chunk'
  }

  #endChunk(line: string): void {
    if (line !== '') throw new NotHttp('the end of a chunk')
    this.#place = 'chunk size'
  }

  #readTrailer(line: string): void {
    this.#trailerBytes += line.length + 2
    if (line === '') this.#place = 'nothing'
    else fieldsOf(`${line}\r\n`, 0)
  }
}

/** What an answer begins with. */
interface Head {
  readonly text: string
  readonly status: number
  readonly fields: ReadonlyMap<string, string>
  readonly length: number | null
  readonly coding: string | null
  readonly staysOpen: boolean
  readonly idleMs: number | null
}

let last: Head | undefined

/** Receivers say the same over and over: what was read last is not read again. */
function headOf(text: string): Head {
  if (last?.text !== text) last = readHead(text)
  return last
}

function readHead(text: string): Head {
  expectHttp(text.slice(0, START_LENGTH))
  const line = STATUS_LINE.exec(text)
  if (!line) throw new NotHttp('its first line')
  const status = Number(line[2])
  const fields = fieldsOf(text, line[0].length)
  const of = (name: string): string | null => fields.get(name) ?? null
  const [length, coding] = [of('content-length'), of('transfer-encoding')]
  // What only announces an answer has no body, whatever it says.
  if (status >= 200) {
    if (length !== null && coding !== null) throw new NotHttp('both a length and chunks')
    if (length !== null && !LENGTH.test(length)) throw new NotHttp('its content-length')
    if (coding !== null && !CODINGS.test(coding)) throw new NotHttp('its transfer-encoding')
  }
  const idle = TIMEOUT.exec(of('keep-alive') ?? '')
  return {
    text,
    status,
    fields,
    length: length === null ? null : Number(length),
    coding,
    staysOpen: line[1] !== '0' && !CLOSES.test(of('connection') ?? ''),
    idleMs: idle && Number(idle[1]) * 1000,
  }
}

/** As far as it has come. */
function expectHttp(text: string): void {
  if (!STARTS.some((start) => start.startsWith(text))) throw new NotHttp()
}

/** At its end, where it has some; not by a pattern, which would look from every one of them on. */
function withoutBlanks(value: string): string {
  let end = value.length
  while (value[end - 1] === ' ' || value[end - 1] === '\t') end--
  return value.slice(0, end)
}

/** By their names without capitals; of those that come again, and are no lists, the first counts. */
function fieldsOf(head: string, from: number): Map<string, string> {
  const fields = new Map<string, string>()
  let at = from
  while (at < head.length) {
    FIELD.lastIndex = at
    const found = FIELD.exec(head)
    if (!found) throw new NotHttp('a header')
    const [name, value] = [found[1]!.toLowerCase(), withoutBlanks(found[2]!)]
    const before = fields.get(name)
    if (before === undefined) fields.set(name, value)
    else if (LISTS.has(name)) fields.set(name, `${before}, ${value}`)
    else if (name === 'content-length') throw new NotHttp('content-length twice')
    at = FIELD.lastIndex
  }
  return fields
}
