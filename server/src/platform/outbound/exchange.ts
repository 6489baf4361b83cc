import type { Clock } from '../clock.ts'
import { AnswerReader } from './answer-reader.ts'
import type { Departures } from './departures.ts'
import { sendFailureWords } from './failure-words.ts'
import { Unreachable } from './guard.ts'
import type { Line, Lines, LineUser } from './lines.ts'
import type { Places } from './places.ts'
import { brokenOffWords, lateWords, redirectWords } from './progress-words.ts'
import type { WrittenRequest } from './request-bytes.ts'

export interface OutboundRequest {
  /** One that `checkTargetUrl` has taken. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Sent byte for byte; the caller's again as soon as `send` has returned. */
  readonly body: Buffer
  readonly signal?: AbortSignal | undefined
}

export interface Answer {
  readonly durationMs: number
  readonly status: number | null
  /** Its beginning, as text; null where there was no answer. */
  readonly body: string | null
  /** Why there was no whole answer, or none to be content with (a redirect), in words. */
  readonly error: string | null
  /** The guard stood in the way: it always will. */
  readonly refused: boolean
  readonly retryAfter: string | null
}

export interface ExchangeDeps {
  readonly lines: Lines
  readonly places: Places
  readonly departures: Departures
  readonly clock: Clock
  readonly deadlineMs: number
}

/** What goes where. */
export interface Outgoing {
  readonly url: URL
  readonly written: WrittenRequest
  readonly signal?: AbortSignal | undefined
}

/** How it shows that the other side has closed a connection. */
const CLOSED = new Set(['ECONNRESET', 'EPIPE'])

const STOPPED = 'stopped before an answer came, since Jeton was stopping'

/** The other side ended the connection properly. */
const ENDED: NodeJS.ErrnoException = Object.assign(new Error('ended'), { code: 'ECONNRESET' })

/** One request and its answer. Once it is over, whatever still comes changes nothing. */
export class Exchange implements LineUser {
  readonly #deps: ExchangeDeps
  readonly #outgoing: Outgoing
  readonly #resolve: (answer: Answer) => void
  readonly #startedAt: number
  readonly #answer = new AnswerReader()
  /** Of those that are under way. */
  before: Exchange | null = null
  after: Exchange | null = null
  #line: Line | null = null
  #over = false
  /** Handed to a connection that is open. */
  #underWay = false
  /** To be written at the end of this turn. */
  #departs = false
  /** Null where the connection was there before. */
  #connectMs: number | null = null

  constructor(deps: ExchangeDeps, outgoing: Outgoing, resolve: (answer: Answer) => void) {
    this.#deps = deps
    this.#outgoing = outgoing
    this.#resolve = resolve
    this.#startedAt = deps.clock.monotonic()
  }

  begin(): void {
    const { signal } = this.#outgoing
    signal?.addEventListener('abort', this.stop)
    if (signal?.aborted) this.stop()
    else if (this.#takeLine()) {
      this.#underWay = true
      this.#departs = true
      this.#deps.departures.add(this)
    } else this.#open()
  }

  #takeLine(): boolean {
    this.#line = this.#deps.lines.take(this.#outgoing.url.origin, this) ?? null
    return this.#line !== null
  }

  #open(): void {
    this.#line = this.#deps.lines.open(this.#outgoing.url, this)
  }

  opened(): void {
    this.#connectMs = this.#elapsedMs()
    this.#write()
  }

  depart(): void {
    if (this.#departs && !this.#over) this.#write()
  }

  #write(): void {
    const { place, length } = this.#outgoing.written
    this.#underWay = true
    this.#departs = false
    this.#line!.socket!.write(place.subarray(0, length))
  }

  heard(bytes: Buffer): void {
    const answer = this.#answer
    // Before anything was asked: a farewell, on a line that was idle.
    if (this.#departs) {
      this.lost(ENDED)
      return
    }
    try {
      answer.read(bytes)
    } catch (error) {
      this.#end(this.#failure(error as Error))
      return
    }
    if (answer.body.isTooLong) this.#end(null)
    // What lies behind it in the same piece of TLS is heard in this turn: were the line used again, it would seem to answer that.
    else if (answer.isWhole && this.#line!.isSecure) setImmediate(this.#conclude)
    else if (answer.isWhole) this.#conclude()
  }

  readonly #conclude = (): void => {
    if (this.#over) return
    const { staysOpen, idleMs } = this.#answer
    // Who answers before all is said may never hear the rest.
    if (!staysOpen || this.#line!.socket!.writableLength > 0) this.#end(null)
    else {
      this.#deps.lines.keep(this.#line!, idleMs)
      // Of a connection that is closed nobody knows whether it still reads.
      this.#deps.places.giveBack(this.#outgoing.written.place)
      this.#settle(null, false)
    }
  }

  lost(error: Error | null): void {
    if (isFarewell(error) && this.#answer.endsHere()) this.#end(null)
    else if (this.#mayTryAgain(error ?? ENDED)) {
      this.#deps.lines.drop(this.#line!)
      this.#underWay = false
      this.#departs = false
      this.#open()
    } else this.#end(this.#failure(error ?? ENDED), error instanceof Unreachable)
  }

  /**
   * A connection that the other side closed just when it was used again tells nothing about the receiver. The second try
   * gets a fresh one, so there is no third.
   */
  #mayTryAgain({ code }: NodeJS.ErrnoException): boolean {
    return this.#line!.isReused && !this.#answer.hasBegun && CLOSED.has(code ?? '')
  }

  /** Milliseconds until its deadline. */
  get leftMs(): number {
    return this.#deps.deadlineMs - this.#elapsedMs()
  }

  expire(): void {
    if (this.#answer.isWhole) this.#conclude()
    else this.#end(lateWords(this.#progress(), this.#deps.deadlineMs))
  }

  readonly stop = (): void => this.#end(STOPPED)

  /** Every end but a good one: the connection is not used again. */
  #end(error: string | null, refused = false): void {
    if (this.#over) return
    if (this.#line) this.#deps.lines.drop(this.#line)
    this.#settle(error, refused)
  }

  #settle(error: string | null, refused: boolean): void {
    this.#over = true
    this.#outgoing.signal?.removeEventListener('abort', this.stop)
    const { status, body } = this.#answer
    this.#resolve({
      durationMs: Math.round(this.#elapsedMs()),
      status,
      body: status === null ? null : body.text(),
      error: redirectWords(status, this.#answer.field('location'), this.#outgoing.url) ?? error,
      refused,
      retryAfter: this.#answer.field('retry-after'),
    })
  }

  #failure(error: Error): string {
    if (this.#answer.status !== null) return brokenOffWords(error, this.#progress())
    const { hostname: host, protocol } = this.#outgoing.url
    return sendFailureWords(error, { host, protocol, underWay: this.#underWay, now: this.#deps.clock.now() })
  }

  #progress() {
    const { status, body, length } = this.#answer
    return {
      // Of a TLS connection it turns false when TCP is there and the handshake begins.
      connecting: this.#line?.socket?.connecting ?? true,
      underWay: this.#underWay,
      connectMs: this.#connectMs,
      status,
      received: body.received,
      length,
    }
  }

  #elapsedMs(): number {
    return this.#deps.clock.monotonic() - this.#startedAt
  }
}

/** Some close so fast that it looks like a fault. */
const isFarewell = (error: NodeJS.ErrnoException | null): boolean =>
  error === null || error.code === 'ECONNRESET'
