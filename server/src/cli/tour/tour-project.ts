import { type ApiRequest, exchange } from '../call-api.ts'
import type { Connection } from '../connection.ts'
import type { Live } from '../io.ts'
import type { Receiver } from '../live/local-receiver.ts'

/** A response differs from the expected one. */
export class CheckFailed extends Error {}

export function ensure(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new CheckFailed(otherwise)
}

/** Returns the result of an earlier step, which this step requires. */
export function needed<T>(value: T | undefined): T {
  if (value === undefined) throw new CheckFailed('not run, because an earlier step failed')
  return value
}

/** `1.9 ms`, `41 ms`. */
export const shownMs = (ms: number): string => `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`

type Json = Readonly<Record<string, unknown>>

export interface TourAnswer {
  readonly response: Response
  readonly text: string
  /** `200`, `403 insufficient_scope`. */
  readonly shown: string
  readonly requestId: string
  /** Empty if the response is not JSON. */
  readonly body: Json
  readonly ms: number
}

export interface Exchange {
  readonly url: string
  readonly request: ApiRequest
  readonly answer: TourAnswer
  /** Number of requests until the condition held. */
  readonly times: number
}

interface Parts {
  readonly connection: Connection
  /** URL for API clients, which may be another port. */
  readonly apiUrl: string
  readonly live: Live
  readonly receiver: Receiver
  onExchange(exchange: Exchange): void
}

const POLL_EVERY_MS = 20

/** Result of a step, short enough for one line. */
export interface Found {
  readonly result: string
  /** Evidence: a time, a status, a part of the response. */
  readonly proof: string
  /** Sentences on separate lines. */
  readonly more?: readonly string[]
}

export interface Step {
  readonly name: string
  /** The guarantee as a sentence. */
  readonly proves: string
  /** How to do the same without the tour. */
  readonly byHand: string
  run(): Promise<Found>
}

/** The temporary project of the tour. Every request goes through it, so that the report can show it. */
export class TourProject {
  readonly parts: Parts
  id = ''
  /** How the event reaches the receiver: `forwarded`, like by `jeton listen`, if the server must not send to this machine. */
  via: 'sent' | 'forwarded' | undefined

  constructor(parts: Parts) {
    this.parts = parts
  }

  /** A path of the management API in this project. */
  path(rest: string): string {
    return `/management/v1/projects/${this.id}${rest}`
  }

  async get(path: string, query: Record<string, string> = {}): Promise<Json> {
    return this.#must({ method: 'GET', path: this.path(path), query })
  }

  async post(path: string, body?: object, credential?: ApiRequest['credential']): Promise<Json> {
    return this.#must({ method: 'POST', path: credential ? path : this.path(path), body, credential })
  }

  /** Fails the step unless the request succeeds. */
  async #must(request: ApiRequest): Promise<Json> {
    const { response, shown, body } = await this.send(request)
    ensure(response.ok, `${request.method} ${request.path} returned ${shown}`)
    return body
  }

  send(request: ApiRequest): Promise<TourAnswer> {
    return this.until(request, () => true, 0)
  }

  /** Repeats the request until the condition holds or the time is over. Only the last response is reported. */
  async until(request: ApiRequest, isDone: (body: Json) => boolean, withinMs: number): Promise<TourAnswer> {
    const { live, onExchange, connection, apiUrl } = this.parts
    const url = request.credential ? apiUrl : connection.url
    const deadline = performance.now() + withinMs
    for (let times = 1; ; times++) {
      const answer = await this.#exchange(url, { ...request, signal: live.stopped })
      if (isDone(answer.body) || performance.now() > deadline || live.stopped.aborted) {
        onExchange({ url, request, answer, times })
        return answer
      }
      await live.wait(POLL_EVERY_MS)
    }
  }

  /** Deletes the project, also after a failure and after Ctrl-C. Returns the error, if any. */
  async delete(name: string): Promise<string | undefined> {
    const request = { method: 'DELETE', path: this.path(''), body: { name } }
    try {
      const { response } = await this.#exchange(this.parts.connection.url, request)
      return response.ok ? undefined : `the server returned ${response.status}`
    } catch (error) {
      return (error as Error).message.split('\n', 1)[0]
    }
  }

  async #exchange(url: string, request: ApiRequest): Promise<TourAnswer> {
    const started = performance.now()
    const { response, text } = await exchange({ ...this.parts.connection, url }, request)
    const ms = performance.now() - started
    const body = parsed(text)
    const shown = [response.status, body.key].filter(Boolean).join(' ')
    return { response, text, shown, body, ms, requestId: response.headers.get('x-request-id') ?? '' }
  }
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) ?? {}
  } catch {
    return {}
  }
}
