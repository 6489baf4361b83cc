import type { Dispatcher } from 'undici'
import type { Clock } from '../clock.ts'
import { deadlineMessage, failureMessage, type Progress, redirectMessage } from './error-messages.ts'
import { BlockedAddress } from './guard.ts'
import { LimitedBody } from './response-body.ts'
import { isOfReusedConnection } from './watch-responses.ts'

export interface OutboundRequest {
  /** Accepted by `checkTargetUrl`. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Sent byte for byte. */
  readonly body: Buffer
  readonly signal?: AbortSignal | undefined
}

export interface SendOutcome {
  readonly durationMs: number
  readonly status: number | null
  /** Beginning of the response body; null without a response. */
  readonly body: string | null
  /** Why there was no complete response, or why it does not count (a redirect); null otherwise. */
  readonly error: string | null
  /** True if the guard blocked the address. Retrying cannot help. */
  readonly isBlocked: boolean
  readonly retryAfter: string | null
}

interface HandlerParts {
  readonly url: URL
  readonly clock: Clock
  readonly deadlineMs: number
  isHandshaking(url: URL): boolean
  /** Sends the request again, over a new connection. */
  retry(handler: SendHandler): void
  onSettled(outcome: SendOutcome): void
}

type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>

/** Interim responses (1xx). A receiver that sends them without end would keep the process busy. */
const MAX_INTERIM_RESPONSES = 100

const SHUTDOWN = 'aborted, because Jeton was shutting down'

/** Handles undici's callbacks for one request, and settles it once, at its deadline at the latest. */
export class SendHandler implements Dispatcher.DispatchHandler {
  readonly #parts: HandlerParts
  readonly #startedAt: number
  readonly #timer: NodeJS.Timeout
  readonly #body = new LimitedBody()
  #controller: Dispatcher.DispatchController | null = null
  #connectMs: number | null = null
  #hasResponseBytes = false
  #isRetry = false
  #isSettled = false
  #interimResponses = 0
  #status: number | null = null
  #headers: ResponseHeaders = {}

  constructor(parts: HandlerParts) {
    this.#parts = parts
    this.#startedAt = parts.clock.monotonic()
    this.#timer = setTimeout(expire, parts.deadlineMs, this)
  }

  /** Called when the connection is ready, before anything is written. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    this.#connectMs = this.#elapsedMs()
    if (this.#isSettled) controller.abort(new Error('settled'))
  }

  onResponseStarted(): void {
    this.#hasResponseBytes = true
  }

  /** Also called for interim responses. */
  onResponseStart(_: unknown, status: number, headers: ResponseHeaders): void {
    if (status >= 200) {
      this.#status = status
      this.#headers = headers
    } else if (++this.#interimResponses > MAX_INTERIM_RESPONSES)
      this.#fail(`sent ${MAX_INTERIM_RESPONSES} interim responses and no final one`)
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    this.#body.add(chunk)
    if (this.#body.isTooLong) this.#fail(null)
  }

  /** Settles one turn later, when undici has freed the connection, so that the caller's next request can use it. */
  onResponseEnd(): void {
    setImmediate(() => this.#settle(null))
  }

  onResponseError(_: unknown, error: Error): void {
    if (this.#isSettled) return
    if (this.#canRetry(error)) {
      this.#isRetry = true
      this.#controller = null
      this.#parts.retry(this)
    } else this.#settle(failureMessage(error, this.#progress()), error instanceof BlockedAddress)
  }

  /** A connection that the receiver closed just when it was reused says nothing about the receiver. */
  #canRetry(error: Error): boolean {
    return !this.#isRetry && !this.#hasResponseBytes && isOfReusedConnection(error)
  }

  expire(): void {
    this.#fail(deadlineMessage(this.#progress(), this.#parts.deadlineMs))
  }

  readonly stop = (): void => this.#fail(SHUTDOWN)

  /** Settles and closes the connection. */
  #fail(error: string | null): void {
    this.#settle(error)
    this.#controller?.abort(new Error('settled'))
  }

  #settle(error: string | null, isBlocked = false): void {
    if (this.#isSettled) return
    this.#isSettled = true
    clearTimeout(this.#timer)
    const status = this.#status
    this.#parts.onSettled({
      durationMs: Math.round(this.#elapsedMs()),
      status,
      body: status === null ? null : this.#body.text(),
      error: redirectMessage(status, single(this.#headers.location), this.#parts.url) ?? error,
      isBlocked,
      retryAfter: single(this.#headers['retry-after']),
    })
  }

  #progress(): Progress {
    const { url, clock } = this.#parts
    const length = single(this.#headers['content-length'])
    return {
      url,
      now: clock.now(),
      connectMs: this.#connectMs,
      isHandshaking: this.#connectMs === null && this.#parts.isHandshaking(url),
      status: this.#status,
      received: this.#body.received,
      length: length === null ? null : Number(length),
    }
  }

  #elapsedMs(): number {
    return this.#parts.clock.monotonic() - this.#startedAt
  }
}

const expire = (handler: SendHandler): void => handler.expire()

const single = (value: string | string[] | undefined): string | null =>
  (Array.isArray(value) ? value[0] : value) ?? null
