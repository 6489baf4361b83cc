import type { OutboundRequest, Sender, SendOutcome } from '../../platform/outbound/index.ts'

/** Answers a delivery in place of the receiver. */
export type Deliver = (request: Request) => Response | Promise<Response>

const toRequest = ({ url, headers, body }: OutboundRequest): Request =>
  new Request(url, { method: 'POST', headers, body: new Uint8Array(body) })

/** Passes deliveries to a function, and to the callers of `next`. Opens no socket. */
export class InProcessSender implements Sender {
  readonly #deliver: Deliver
  readonly #sent: Request[] = []
  readonly #waiting: ((request: Request | undefined) => void)[] = []
  #isClosed = false

  constructor(deliver: Deliver) {
    this.#deliver = deliver
  }

  async send(outgoing: OutboundRequest): Promise<SendOutcome> {
    const startedAt = performance.now()
    this.#add(toRequest(outgoing))
    const unanswered = { status: null, body: null, retryAfter: null, isBlocked: false }
    try {
      const response = await this.#deliver(toRequest(outgoing))
      const body = await response.text()
      const durationMs = performance.now() - startedAt
      const retryAfter = response.headers.get('retry-after')
      return { status: response.status, body, retryAfter, error: null, isBlocked: false, durationMs }
    } catch (error) {
      return { ...unanswered, error: String(error), durationMs: performance.now() - startedAt }
    }
  }

  /** The next delivery that was not taken; undefined after the end. */
  next(): Promise<Request | undefined> {
    const sent = this.#sent.shift()
    if (sent || this.#isClosed) return Promise.resolve(sent)
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const resolve of this.#waiting.splice(0)) resolve(undefined)
  }

  #add(request: Request): void {
    const resolve = this.#waiting.shift()
    if (resolve) resolve(request)
    else this.#sent.push(request)
  }
}
