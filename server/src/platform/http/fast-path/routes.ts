import type { IncomingHttpHeaders } from 'node:http'
import type { RouteOptions } from 'fastify'
import type { Span } from '../../tracing.ts'
import type { ApiRequest, ApiResponse, FastHandler, RawRequest, RouteRule } from '../app.ts'
import { FORM_LIMIT_BYTES, type Form } from '../body-parsers.ts'
import type { ClientAddress } from '../client-address.ts'
import type { ErrorContext, ErrorFormat, ErrorResponse } from '../errors.ts'
import { newRequestId } from '../request-id.ts'
import type { FastResponse } from './write-response.ts'

/** `fetch` and many other clients add the charset. */
const FORM_TYPE = /^application\/x-www-form-urlencoded(?:; ?charset=[Uu][Tt][Ff]-8)?$/

export interface FastRouteDeps {
  readonly callerOf: (raw: RawRequest) => ClientAddress
  readonly toErrorResponse: (error: unknown, request: ErrorContext, format: ErrorFormat) => ErrorResponse
}

export interface FastRoute {
  readonly acceptsForm: boolean
  readonly handler: FastHandler
  /** The same rule as in Fastify: checks, headers, metrics and access log. */
  readonly rule: RouteRule
}

/** A method and path that the fast path serves. */
export type RequestLine = { readonly route: FastRoute; readonly method: string; readonly url: string }

/** A complete request, and how to respond to it. */
export interface Arrival {
  readonly route: FastRoute
  readonly raw: RawRequest & { readonly method: string; readonly url: string }
  readonly body: Form | undefined
  readonly startedAt: number
  /** Throws only before anything is sent. `cut` closes the connection if nothing can be sent. */
  readonly send: (response: FastResponse) => void
  readonly cut: () => void
}

/** Routes with a `fast` handler: issue, introspect, and authorize for the gateway. */
export class FastRoutes {
  /** Keyed by method and path, for example `POST /v1/oauth/token`. */
  readonly #lines = new Map<string, RequestLine>()

  add({ url, method, config }: RouteOptions, rule: RouteRule): void {
    if (!config?.fast || url.includes('*')) return
    // The fast path does not check the addresses that may use the management API.
    if (config.management) throw new Error(`${url} is for operators: the fast path cannot serve it`)
    const route = { rule, acceptsForm: config.bodyType === 'form', handler: config.fast }
    for (const one of [method].flat()) this.#lines.set(`${one} ${url}`, { route, method: one, url })
  }

  find(methodAndUrl: string): RequestLine | undefined {
    return this.#lines.get(methodAndUrl)
  }
}

/** Unusual bodies are left to Fastify. */
export function acceptsBody({ acceptsForm }: FastRoute, headers: IncomingHttpHeaders): boolean {
  const { 'content-type': type = '', 'content-length': length = '0' } = headers
  return acceptsForm ? FORM_TYPE.test(type) && Number(length) <= FORM_LIMIT_BYTES : length === '0'
}

const UNKNOWN: ClientAddress = { ip: null, socket: 'unknown', forwarded: null }

/** A request of the fast path. It is answered exactly once, without a promise if the response is ready. */
export class FastRequest implements ApiRequest, ErrorContext {
  readonly #arrival: Arrival
  readonly #deps: FastRouteDeps
  readonly id = newRequestId()
  readonly raw: RawRequest
  readonly headers: IncomingHttpHeaders
  readonly method: string
  readonly url: string
  readonly body: Form | undefined
  caller = UNKNOWN
  logNote: string | undefined = undefined
  reason: string | undefined = undefined
  span: Span | undefined = undefined

  constructor(arrival: Arrival, deps: FastRouteDeps) {
    this.#arrival = arrival
    this.#deps = deps
    this.raw = arrival.raw
    this.headers = arrival.raw.headers
    this.method = arrival.raw.method
    this.url = arrival.raw.url
    this.body = arrival.body
  }

  handle(): void {
    const { enterSpan } = this.#arrival.route.rule
    if (enterSpan) enterSpan(this, () => this.#handle())
    else this.#handle()
  }

  #handle(): void {
    const { rule, handler } = this.#arrival.route
    let response: ApiResponse | Promise<ApiResponse>
    try {
      this.caller = this.#deps.callerOf(this.raw)
      rule.check(this.raw)
      response = handler(this)
    } catch (error) {
      return void this.#fail(error)
    }
    if (response instanceof Promise) response.then(this.#succeed, this.#fail)
    else this.#succeed(response)
  }

  readonly #succeed = ({ headers, text }: ApiResponse): void => {
    try {
      this.#send(200, headers, text)
    } catch (error) {
      return void this.#fail(error)
    }
    this.#record(200)
  }

  readonly #fail = (error: unknown): void => {
    const { route, cut } = this.#arrival
    const { status, headers, text } = this.#deps.toErrorResponse(error, this, route.rule.config)
    try {
      this.#send(status, Object.entries(headers).flat(), text)
    } catch {
      cut()
    }
    this.#record(status)
  }

  #send(status: number, headers: readonly string[], text: string): void {
    const { send, route } = this.#arrival
    send({ status, headers: ['x-request-id', this.id, ...route.rule.headers, ...headers], text })
  }

  #record(status: number): void {
    const { startedAt, route } = this.#arrival
    const { id, method, url, caller, logNote, reason, span } = this
    const ms = performance.now() - startedAt
    route.rule.record({ status, ms, id, method, url, caller, logNote, reason, span })
  }
}
