import { type ApiRequest, exchange, type RawAnswer, refused } from '../call-api.ts'
import type { Connection } from '../connection.ts'
import type { Live } from '../io.ts'
import { NotAsPromised } from './promised.ts'

export interface Pair {
  readonly appId: string
  readonly appToken: string
}

/** An answer with the time that it took. */
export interface TourAnswer extends RawAnswer {
  readonly status: number
  readonly requestId: string
  /** Empty where it was no JSON. */
  readonly body: Readonly<Record<string, unknown>>
  readonly ms: number
}

export interface Exchange {
  readonly url: string
  readonly request: ApiRequest
  readonly answer: TourAnswer
  /** How often it was asked, where it was asked until something was so. */
  readonly times: number
}

interface Wiring {
  readonly connection: Connection
  /** Where API clients call, which may be another port than the operators'. */
  readonly apiUrl: string
  readonly live: Live
  heard(exchange: Exchange): void
}

const LOOK_EVERY_MS = 20

export const asPair = ({ appId, appToken }: Pair) => ({ 'x-app-id': appId, 'x-app-token': appToken })
export const asBearer = (token: string) => ({ authorization: `Bearer ${token}` })

/** Every request of the tour goes through here, so that each can be shown. */
export class Wire {
  readonly #wiring: Wiring

  constructor(wiring: Wiring) {
    this.#wiring = wiring
  }

  /** Whatever is answered. */
  async ask(request: ApiRequest): Promise<TourAnswer> {
    const answer = await this.#send(request)
    this.#heard(request, answer, 1)
    return answer
  }

  /** Where anything but success ends the step. */
  async must(request: ApiRequest): Promise<TourAnswer> {
    const answer = await this.ask(request)
    if (answer.status < 400) return answer
    throw new NotAsPromised(`${request.method} ${request.path} answered ${saidBy(answer)}`)
  }

  /** The first request of all: what is wrong with the server or the credential is told as by any command. */
  async first(request: ApiRequest): Promise<TourAnswer> {
    const answer = await this.ask(request)
    if (answer.status >= 400) throw refused(answer.response, answer.text, this.#wiring.connection)
    return answer
  }

  /** Asks until it is so, or for so long; the last answer, and only that is shown. */
  async until(
    request: ApiRequest,
    isSo: (answer: TourAnswer) => boolean,
    withinMs: number,
  ): Promise<TourAnswer> {
    const late = performance.now() + withinMs
    for (let times = 1; ; times++) {
      const answer = await this.#send(request)
      const over = isSo(answer) || performance.now() > late || this.#wiring.live.stopped.aborted
      if (over) {
        this.#heard(request, answer, times)
        return answer
      }
      await this.#wiring.live.wait(LOOK_EVERY_MS)
    }
  }

  /** After everything, also after Ctrl-C. */
  last(request: ApiRequest): Promise<TourAnswer> {
    return this.#send(request, false)
  }

  async #send(request: ApiRequest, stoppable = true): Promise<TourAnswer> {
    const { connection, live } = this.#wiring
    const url = this.#urlFor(request)
    const started = performance.now()
    const signal = stoppable ? { signal: live.stopped } : {}
    const raw = await exchange({ ...connection, url }, { ...request, ...signal })
    return { ...raw, ...readOf(raw), ms: performance.now() - started }
  }

  #urlFor({ credential }: ApiRequest): string {
    return credential ? this.#wiring.apiUrl : this.#wiring.connection.url
  }

  #heard(request: ApiRequest, answer: TourAnswer, times: number): void {
    this.#wiring.heard({ url: this.#urlFor(request), request, answer, times })
  }
}

function readOf({ response, text }: RawAnswer): Pick<TourAnswer, 'status' | 'requestId' | 'body'> {
  const requestId = response.headers.get('x-request-id') ?? ''
  try {
    return { status: response.status, requestId, body: JSON.parse(text) ?? {} }
  } catch {
    return { status: response.status, requestId, body: {} }
  }
}

/** `403 insufficient_scope`. */
export const saidBy = ({ status, body }: TourAnswer): string => [status, body.key].filter(Boolean).join(' ')
