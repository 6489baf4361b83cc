import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { type Form, parseForm } from './bodies.ts'
import type { CallerAddress } from './caller-address.ts'
import { FORM } from './error-answers.ts'
import { newRequestId } from './request-id.ts'

/** As `fetch` and many clients have it. */
const UTF8_FORM = /^application\/x-www-form-urlencoded; ?charset=utf-8$/i

/** As much of a request as a quick answer may look at; requests of Fastify have it all too. */
export interface Asked {
  readonly raw: IncomingMessage
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

/** What is common to the answers of a route, made once. */
interface Lane {
  /** Undefined is any. */
  readonly method: string | undefined
  readonly takesForm: boolean
  readonly quick: Quick
  readonly headers: readonly string[]
  /** What Fastify's hooks would do: before the answer, which may be refused, and after it. */
  readonly check: (raw: IncomingMessage) => void
  readonly record: (answer: Recorded) => void
}

/** An answer as it is counted and logged. */
export interface Recorded {
  readonly status: number
  readonly ms: number
  readonly id: string
  readonly raw: IncomingMessage
  readonly caller: CallerAddress
  readonly note: string | undefined
}

/** What was decided before Fastify got the request, for it to tell. */
interface Refused {
  readonly fault: unknown
  readonly note: string | undefined
  readonly began: number
}

type Handler = (raw: IncomingMessage, response: ServerResponse) => void

interface Deps {
  readonly callerOf: (raw: IncomingMessage) => CallerAddress
  /** As Fastify does it before its own. */
  readonly beforeAnswer: (response: ServerResponse) => void
  readonly formLimitBytes: number
}

/**
 * The hot paths (issuing, introspecting, authorizing) are answered before Fastify sees them: half of what they cost
 * beyond HTTP was on the way through it. Only plain requests, and only with 200. What is unusual about a request makes
 * it go through Fastify from the start, and whoever is refused here is sent on to be told there: there is one way to
 * refuse.
 */
export class QuickLanes {
  readonly #deps: Deps
  readonly #lanes = new Map<string, Lane>()
  readonly #refused = new WeakMap<IncomingMessage, Refused>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  add({ url, method, config }: RouteOptions, common: Pick<Lane, 'headers' | 'check' | 'record'>): void {
    if (!config?.quick || url.includes('*')) return
    const one = typeof method === 'string' ? method : undefined
    this.#lanes.set(url, { ...common, method: one, takesForm: config.takes === 'form', quick: config.quick })
  }

  refused(raw: IncomingMessage): Refused | undefined {
    return this.#refused.get(raw)
  }

  /** From here on requests come here first, and to Fastify, which has listened alone so far, with what is not for us. */
  standBefore(server: Server): void {
    const [fastify] = server.listeners('request') as [Handler]
    server.off('request', fastify)
    server.on('request', (raw, response) => {
      const lane = this.#laneOf(raw)
      if (!lane) return void fastify(raw, response)
      const exchange = { lane, raw, response, fastify, began: performance.now() }
      if (lane.takesForm) this.#read(exchange)
      else this.#answer(exchange)
    })
  }

  /** A form that breaks off never ends: the client is told as of any request that is broken, if it is still there. */
  #read(exchange: Exchange): void {
    const chunks: Buffer[] = []
    exchange.raw.on('data', (chunk: Buffer) => chunks.push(chunk))
    exchange.raw.on('end', () =>
      this.#answer(exchange, chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)),
    )
  }

  #laneOf(raw: IncomingMessage): Lane | undefined {
    const lane = this.#lanes.get(raw.url!)
    if (!lane || (lane.method !== undefined && lane.method !== raw.method)) return undefined
    return lane.takesForm && !this.#isPlainForm(raw) ? undefined : lane
  }

  /** Its length is known, and no more than Fastify would take. */
  #isPlainForm({ headers }: IncomingMessage): boolean {
    const { 'content-type': type, 'content-length': length } = headers
    return (type === FORM || UTF8_FORM.test(type ?? '')) && Number(length) <= this.#deps.formLimitBytes
  }

  #answer(exchange: Exchange, body?: Buffer): void {
    const { lane, raw } = exchange
    const asked = new PlainRequest(raw)
    let answer: QuickAnswer | Promise<QuickAnswer>
    try {
      asked.caller = this.#deps.callerOf(raw)
      lane.check(raw)
      if (body) asked.body = parseForm(body)
      answer = lane.quick(asked)
    } catch (fault) {
      this.#refuse(exchange, asked, fault)
      return
    }
    if (answer instanceof Promise)
      answer.then(
        (late) => this.#send(exchange, asked, late),
        (fault) => this.#refuse(exchange, asked, fault),
      )
    else this.#send(exchange, asked, answer)
  }

  #send(exchange: Exchange, asked: Asked, { headers, text }: QuickAnswer): void {
    const { lane, raw, response, began } = exchange
    const id = newRequestId()
    this.#deps.beforeAnswer(response)
    const own = ['x-request-id', id, ...lane.headers, ...headers, 'content-length', String(text.length)]
    try {
      response.writeHead(200, own)
    } catch (fault) {
      this.#refuse(exchange, asked, fault)
      return
    }
    // For ASCII the same bytes as UTF-8, without a look at each.
    response.end(text, 'latin1')
    const { caller, note } = asked
    lane.record({ status: 200, ms: performance.now() - began, id, raw, caller, note })
  }

  #refuse({ raw, response, fastify, began }: Exchange, { note }: Asked, fault: unknown): void {
    this.#refused.set(raw, { fault, note, began })
    fastify(raw, response)
  }
}

const NOBODY: CallerAddress = { plain: null, socket: 'unknown', forwarded: null }

class PlainRequest implements Asked {
  readonly raw: IncomingMessage
  readonly headers: IncomingHttpHeaders
  caller = NOBODY
  body: Form | undefined = undefined
  note: string | undefined = undefined

  constructor(raw: IncomingMessage) {
    this.raw = raw
    this.headers = raw.headers
  }
}

interface Exchange {
  readonly lane: Lane
  readonly raw: IncomingMessage
  readonly response: ServerResponse
  readonly fastify: Handler
  readonly began: number
}
