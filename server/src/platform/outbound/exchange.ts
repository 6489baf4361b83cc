import type { Dispatcher } from 'undici'
import type { Clock } from '../clock.ts'
import { AnswerBody } from './answer-body.ts'
import { sendFailureWords } from './failure-words.ts'
import { Unreachable } from './guard.ts'
import type { Line, Lines } from './lines.ts'
import { brokenOffWords, lateWords, redirectWords } from './progress-words.ts'

export interface OutboundRequest {
  /** One that `checkTargetUrl` has taken. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Sent byte for byte. */
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
  readonly clock: Clock
  readonly deadlineMs: number
  readonly userAgent: string
}

/** How it shows that the other side has closed a connection. */
const CLOSED = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'])

/** Of messages that only announce an answer (1xx). Without end they would keep the whole process busy. */
const HINTS_MAX = 100

const STOPPED = 'stopped before an answer came, since Jeton was stopping'

type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>

function one(headers: AnswerHeaders, name: string): string | null {
  const value = headers[name]
  return (Array.isArray(value) ? value[0] : value) ?? null
}

/**
 * One request and its answer. It is undici's handler itself, since promises and streams for every send would cost as
 * much as the send. Once it is over, whatever undici still calls changes nothing.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #deps: ExchangeDeps
  readonly #request: OutboundRequest
  readonly #url: URL
  readonly #resolve: (answer: Answer) => void
  readonly #startedAt: number
  readonly #timer: NodeJS.Timeout
  readonly #body = new AnswerBody()
  #line: Line | null = null
  #openedBefore = 0
  #over = false
  /** Handed to a connection that is open. */
  #underWay = false
  /** Null where the connection was there before. */
  #connectMs: number | null = null
  #answerBegan = false
  #hints = 0
  #status: number | null = null
  #headers: AnswerHeaders = {}

  constructor(
    deps: ExchangeDeps,
    { request, url }: { request: OutboundRequest; url: URL },
    resolve: (answer: Answer) => void,
  ) {
    this.#deps = deps
    this.#request = request
    this.#url = url
    this.#resolve = resolve
    this.#startedAt = deps.clock.monotonic()
    this.#timer = setTimeout(expire, deps.deadlineMs, this)
  }

  begin(): void {
    const { signal } = this.#request
    signal?.addEventListener('abort', this.stop)
    if (signal?.aborted) this.stop()
    else this.#dispatch(this.#deps.lines.take(this.#url.origin))
  }

  #dispatch(line: Line): void {
    this.#line = line
    this.#openedBefore = line.opened
    const headers = { ...this.#request.headers, 'user-agent': this.#deps.userAgent }
    const path = this.#url.pathname + this.#url.search
    line.client.dispatch({ path, method: 'POST', headers, body: this.#request.body }, this)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#over) controller.abort(new Error('over'))
    this.#underWay = true
    if (!this.#isReused) this.#connectMs = this.#elapsedMs()
  }

  get #isReused(): boolean {
    return this.#line?.opened === this.#openedBefore
  }

  onResponseStarted(): void {
    this.#answerBegan = true
  }

  /** Also called for what comes before the answer (1xx). */
  onResponseStart(_: unknown, status: number, headers: AnswerHeaders): void {
    if (this.#over) return
    if (status >= 200) {
      this.#status = status
      this.#headers = headers
    } else if (++this.#hints > HINTS_MAX) this.#end(`announced an answer ${HINTS_MAX} times and sent none`)
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    if (this.#over) return
    this.#body.add(chunk)
    if (this.#body.isTooLong) this.#end(null)
  }

  onResponseEnd(): void {
    if (this.#over) return
    this.#settle(null, false)
    this.#deps.lines.keep(this.#line!)
  }

  onResponseError(_: unknown, error: Error): void {
    if (this.#over) return
    if (this.#mayTryAgain(error)) {
      void this.#deps.lines.drop(this.#line!)
      this.#dispatch(this.#deps.lines.open(this.#url.origin))
    } else this.#end(this.#failure(error), error instanceof Unreachable)
  }

  /**
   * A connection that the other side closed just when it was used again tells nothing about the receiver. The second try
   * gets a fresh one, so there is no third.
   */
  #mayTryAgain(error: NodeJS.ErrnoException): boolean {
    return this.#underWay && this.#isReused && !this.#answerBegan && CLOSED.has(error.code ?? '')
  }

  expire(): void {
    this.#end(lateWords(this.#progress(), this.#deps.deadlineMs))
  }

  readonly stop = (): void => this.#end(STOPPED)

  /** Every end but a good one: the connection is not used again. */
  #end(error: string | null, refused = false): void {
    if (this.#over) return
    this.#settle(error, refused)
    if (this.#line) void this.#deps.lines.drop(this.#line)
  }

  #settle(error: string | null, refused: boolean): void {
    this.#over = true
    clearTimeout(this.#timer)
    this.#request.signal?.removeEventListener('abort', this.stop)
    const status = this.#status
    this.#resolve({
      durationMs: Math.round(this.#elapsedMs()),
      status,
      body: status === null ? null : this.#body.text(),
      error: redirectWords(status, one(this.#headers, 'location'), this.#url) ?? error,
      refused,
      retryAfter: one(this.#headers, 'retry-after'),
    })
  }

  #failure(error: Error): string {
    if (this.#status !== null) return brokenOffWords(error, this.#progress())
    const { hostname: host, protocol } = this.#url
    return sendFailureWords(error, { host, protocol, underWay: this.#underWay, now: this.#deps.clock.now() })
  }

  #progress() {
    const length = one(this.#headers, 'content-length')
    return {
      // Of a TLS connection it turns false when TCP is there and the handshake begins.
      connecting: this.#line?.socket?.connecting ?? true,
      underWay: this.#underWay,
      connectMs: this.#connectMs,
      status: this.#status,
      received: this.#body.received,
      length: length === null ? null : Number(length),
    }
  }

  #elapsedMs(): number {
    return this.#deps.clock.monotonic() - this.#startedAt
  }
}

const expire = (exchange: Exchange): void => exchange.expire()
