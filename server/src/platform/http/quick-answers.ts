import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { type Form, parseForm } from './bodies.ts'
import type { CallerAddress } from './caller-address.ts'
import { FORM, type Told } from './error-answers.ts'
import { newRequestId } from './request-id.ts'

/** As `fetch` and many clients have it. */
const UTF8_FORM = /^application\/x-www-form-urlencoded; ?charset=utf-8$/i

/** A request as it arrived: Node's own, or one that was read by hand. */
export interface Arrived {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly headers: IncomingHttpHeaders
  /** Names and values in turn, as they were sent. */
  readonly rawHeaders: readonly string[]
  readonly httpVersionMinor: number
  /** Of Node's: whether all of it has come. */
  readonly complete?: boolean
  readonly socket: { readonly remoteAddress?: string | undefined }
}

/** As much of a request as a quick answer may look at; requests of Fastify have it all too. */
export interface Asked {
  readonly raw: Arrived
  readonly headers: IncomingHttpHeaders
  readonly caller: CallerAddress
  /** The form, where the route takes one. */
  readonly body: unknown
  note: string | undefined
}

/** Status 200 with a text of ASCII alone. Headers are names and values in turn. */
export interface QuickAnswer {
  readonly headers: readonly string[]
  readonly text: string
}

/** Answers with 200, or throws. */
export type Quick = (asked: Asked) => QuickAnswer | Promise<QuickAnswer>

/** The same by way of Fastify. */
export const answerQuickly = (quick: Quick) => async (request: FastifyRequest, reply: FastifyReply) => {
  const { headers, text } = await quick(request)
  for (let i = 0; i < headers.length; i += 2) reply.header(headers[i]!, headers[i + 1])
  return reply.send(text)
}

/** A first line that is wanted, and where it leads. */
export interface Way {
  readonly lane: Lane
  readonly method: string
  readonly url: string
}

/** What is common to the answers of a route, made once. */
export interface Lane {
  readonly takesForm: boolean
  readonly quick: Quick
  readonly headers: readonly string[]
  /** What Fastify's hooks would do: before the answer, which may be refused, and after it. */
  readonly check: (raw: Arrived) => void
  readonly record: (answer: Recorded) => void
  /** What is thrown, as an answer. */
  readonly refuse: (fault: unknown, request: Told) => Refusal
}

/** An answer, to be sent with what every one has: date, length, and whether the connection stays. */
export interface Answer {
  readonly status: number
  readonly headers: readonly string[]
  readonly text: string
}

interface Refusal {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

/** An answer as it is counted and logged. */
export interface Recorded {
  readonly status: number
  readonly ms: number
  readonly id: string
  readonly method: string
  readonly url: string
  readonly caller: CallerAddress
  readonly note: string | undefined
  readonly reason: string | undefined
}

type Handler = (raw: IncomingMessage, response: ServerResponse) => void

interface Deps {
  readonly callerOf: (raw: Arrived) => CallerAddress
  /** As Fastify does it before its own. */
  readonly beforeAnswer: (response: ServerResponse) => void
  readonly formLimitBytes: number
}

/**
 * The hot paths (issuing, introspecting, authorizing) are answered before Fastify sees them: half of what they cost
 * beyond HTTP was on the way through it. Only plain requests: what is unusual about one makes it go through Fastify from
 * the start.
 */
export class QuickLanes {
  readonly #deps: Deps
  /** By the first line of a request without its version. */
  readonly #ways = new Map<string, Way>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  add({ url, method, config }: RouteOptions, common: Omit<Lane, 'takesForm' | 'quick'>): void {
    if (!config?.quick || url.includes('*')) return
    const lane = { ...common, takesForm: config.takes === 'form', quick: config.quick }
    for (const one of [method].flat()) this.#ways.set(`${one} ${url}`, { lane, method: one, url })
  }

  /** For `POST /v1/oauth/token`, say. */
  wayOf(methodAndUrl: string): Way | undefined {
    return this.#ways.get(methodAndUrl)
  }

  /** Whether there is nothing unusual about what comes with it. */
  takes(
    { takesForm }: Lane,
    { 'content-type': type, 'content-length': length }: IncomingHttpHeaders,
  ): boolean {
    if (!takesForm) return true
    return (type === FORM || UTF8_FORM.test(type ?? '')) && Number(length) <= this.#deps.formLimitBytes
  }

  /** From here on requests come here first, and to Fastify, which has listened alone so far, with what is not for us. */
  standBefore(server: Server): void {
    const [fastify] = server.listeners('request') as [Handler]
    server.off('request', fastify)
    server.on('request', (raw, response) => {
      const lane = this.wayOf(`${raw.method} ${raw.url}`)?.lane
      if (!lane || !this.takes(lane, raw.headers)) return void fastify(raw, response)
      const began = performance.now()
      const send = ({ status, headers, text }: Answer) => {
        this.#deps.beforeAnswer(response)
        const length = String(Buffer.byteLength(text))
        response.writeHead(status, [...headers, 'content-length', length]).end(text)
      }
      const cut = () => response.destroy()
      if (lane.takesForm) readAll(raw, (body) => this.answer({ lane, raw, body, began, send, cut }))
      else this.answer({ lane, raw, began, send, cut })
    })
  }

  /** Whatever happens, there is one answer; and without a promise where nothing needs to be waited for. */
  answer(arrival: Arrival): void {
    const exchange = new Exchange(arrival)
    const { lane, raw, body } = arrival
    let answer: QuickAnswer | Promise<QuickAnswer>
    try {
      exchange.caller = this.#deps.callerOf(raw)
      lane.check(raw)
      if (body) exchange.body = parseForm(body)
      answer = lane.quick(exchange)
    } catch (fault) {
      exchange.refuse(fault)
      return
    }
    if (answer instanceof Promise)
      answer.then(
        (late) => exchange.pass(late),
        (fault) => exchange.refuse(fault),
      )
    else exchange.pass(answer)
  }
}

/** A form that breaks off never ends: the client is told as of any request that is broken, if it is still there. */
function readAll(raw: IncomingMessage, done: (body: Buffer) => void): void {
  const chunks: Buffer[] = []
  raw.on('data', (chunk: Buffer) => chunks.push(chunk))
  raw.on('end', () => done(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)))
}

/** A request that has arrived whole, and the way to answer it. */
export interface Arrival {
  readonly lane: Lane
  readonly raw: Arrived
  readonly body?: Buffer | undefined
  /** When, by the monotonic clock. */
  readonly began: number
  /** Throws only where nothing has been sent yet. */
  readonly send: (answer: Answer) => void
  /** Where nothing can be sent. */
  readonly cut: () => void
}

const NOBODY: CallerAddress = { plain: null, socket: 'unknown', forwarded: null }

class Exchange implements Asked, Told {
  readonly #arrival: Arrival
  readonly id = newRequestId()
  caller = NOBODY
  body: Form | undefined = undefined
  note: string | undefined = undefined
  reason: string | undefined = undefined

  constructor(arrival: Arrival) {
    this.#arrival = arrival
  }

  get raw(): Arrived {
    return this.#arrival.raw
  }

  get headers(): IncomingHttpHeaders {
    return this.#arrival.raw.headers
  }

  get method(): string {
    return this.#arrival.raw.method!
  }

  get url(): string {
    return this.#arrival.raw.url!
  }

  pass({ headers, text }: QuickAnswer): void {
    const { lane, send } = this.#arrival
    try {
      send({ status: 200, headers: ['x-request-id', this.id, ...lane.headers, ...headers], text })
    } catch (fault) {
      this.refuse(fault)
      return
    }
    this.#record(200)
  }

  refuse(fault: unknown): void {
    const { lane, send, cut } = this.#arrival
    const { status, headers, text } = lane.refuse(fault, this)
    const own = ['x-request-id', this.id, ...lane.headers, ...Object.entries(headers).flat()]
    try {
      send({ status, headers: own, text })
    } catch {
      cut()
    }
    this.#record(status)
  }

  #record(status: number): void {
    const { lane, began } = this.#arrival
    const { id, method, url, caller, note, reason } = this
    lane.record({ status, ms: performance.now() - began, id, method, url, caller, note, reason })
  }
}
