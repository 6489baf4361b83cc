import type { OutboundRequest, Sender, SendOutcome } from '../../platform/outbound/index.ts'

/** Answers a delivery in place of the receiver. */
export type Deliver = (request: Request) => Response | Promise<Response>

const toRequest = ({ url, headers, body }: OutboundRequest): Request =>
  new Request(url, { method: 'POST', headers, body: new Uint8Array(body) })

const DEADLINE_MS = 10_000
const UNANSWERED = { status: null, body: null, retryAfter: null, isBlocked: false }

/** Passes deliveries to a function, and to the callers of `next`. Opens no socket. */
export class InProcessSender implements Sender {
  readonly #deliver: Deliver
  readonly #sent: Request[] = []
  readonly #waiting: ((request: Request | undefined) => void)[] = []
  readonly #closing = new AbortController()

  constructor(deliver: Deliver) {
    this.#deliver = deliver
  }

  async send(outgoing: OutboundRequest): Promise<SendOutcome> {
    const startedAt = performance.now()
    this.#add(toRequest(outgoing))
    const answer = await this.#answer(outgoing).catch((error) => ({ ...UNANSWERED, error: String(error) }))
    return { ...answer, durationMs: performance.now() - startedAt }
  }

  async #answer(outgoing: OutboundRequest): Promise<Omit<SendOutcome, 'durationMs'>> {
    const response = await Promise.race([this.#deliver(toRequest(outgoing)), this.#end(outgoing.signal)])
    const { status, headers } = response
    const body = await response.text()
    return { status, body, retryAfter: headers.get('retry-after'), error: null, isBlocked: false }
  }

  /** Rejects after the deadline of a real delivery, or when the service stops. */
  #end(signal: AbortSignal | undefined): Promise<never> {
    const ended = AbortSignal.any([
      AbortSignal.timeout(DEADLINE_MS),
      this.#closing.signal,
      ...(signal ? [signal] : []),
    ])
    return new Promise((_, reject) => ended.addEventListener('abort', () => reject(ended.reason)))
  }

  /** The next delivery that was not taken; undefined after the end. */
  next(): Promise<Request | undefined> {
    const sent = this.#sent.shift()
    if (sent || this.#closing.signal.aborted) return Promise.resolve(sent)
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  async close(): Promise<void> {
    this.#closing.abort('the server has stopped')
    for (const resolve of this.#waiting.splice(0)) resolve(undefined)
  }

  #add(request: Request): void {
    const resolve = this.#waiting.shift()
    if (resolve) resolve(request)
    else this.#sent.push(request)
  }
}
