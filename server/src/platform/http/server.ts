import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import fastify, { type FastifyReply, type FastifyRequest, type RouteOptions } from 'fastify'
import type { Problem } from '../../contract/problem.ts'
import { addressMatcher } from '../addresses.ts'
import type { Clock } from '../clock.ts'
import { accessRule } from './access-rule.ts'
import type { App } from './app.ts'
import { bodyRule, parseForm, parseJson } from './bodies.ts'
import { createBrokenRequestAnswers } from './broken-requests.ts'
import { type CallerAddress, callerAddress } from './caller-address.ts'
import {
  bug,
  FORM,
  problemAnswer,
  problemOf,
  type Telling,
  type Told,
  wrongMediaType,
} from './error-answers.ts'
import { explainValidation } from './explain-validation.ts'
import { cutWhoNeverRead } from './never-read.ts'
import { refuseOtherMethods } from './other-methods.ts'
import { limitPipelining } from './pipelining.ts'
import { PlainConnections } from './plain-connections.ts'
import { type Arrived, QuickLanes } from './quick-answers.ts'
import { newRequestId } from './request-id.ts'
import { createRouteHooks, type HookDeps } from './route-hooks.ts'
import { stopGracefully } from './shutdown.ts'
import { createUnroutedAnswers } from './unrouted.ts'
import { createValidatorCompiler } from './validators.ts'

const JSON_LIMIT_BYTES = 1024 * 1024
const FORM_LIMIT_BYTES = 16 * 1024
const HEADER_LIMIT_BYTES = 16 * 1024
/** How long a client may take to send a request. */
interface Timeouts {
  /** From the first byte of a request to the end of its headers; on a new connection also until that first byte. */
  readonly headersMs: number
  /** From the first byte of a request to its last. */
  readonly requestMs: number
  readonly checkEveryMs: number
}

/**
 * Slow clients hold a socket, not the service. Checked often enough that nobody gets a second more: Node's default is to
 * check every 30 s.
 */
const TIMEOUTS: Timeouts = { headersMs: 10_000, requestMs: 30_000, checkEveryMs: 250 }
/** Longer than the idle timeouts of common proxies (60 s), so that it is the proxy that closes and no request is lost. */
const KEEP_ALIVE_MS = 72_000
/** A client that asks and never reads. */
const NEVER_READ = { lookEveryMs: 15_000, silentMs: 60_000 }

export interface HttpDeps extends HookDeps {
  readonly clock: Clock
  readonly trustedProxies: readonly string[]
  /** Told of every 401, 403 and 429, off the request's path. */
  readonly onRefusal: (request: Told, problem: Problem) => void
  readonly publicUrl: () => string
  /** The answer to a path that cannot be decoded, where it is not the usual one. */
  readonly badUrl?: (url: string) => Problem | undefined
  /** Shorter in tests. */
  readonly timeouts?: Timeouts
}

export interface Http {
  readonly app: App
  /** Every route with its access rule, as registered so far. */
  readonly routes: readonly RouteOptions[]
  /** Call it once all routes are there: every path then answers the methods that it does not have with 405. */
  finish(): void
  /** So that no accepted request is dropped; see `stopGracefully`. */
  stop(): Promise<void>
}

export function createHttp(deps: HttpDeps): Http {
  const { headersMs, requestMs, checkEveryMs } = deps.timeouts ?? TIMEOUTS
  let stopping = false
  /** While stopping every answer is the last on its connection, also where the request came before. */
  const beforeAnswer = (response: ServerResponse): void => {
    if (stopping) response.shouldKeepAlive = false
  }
  const isTrusted = addressMatcher(deps.trustedProxies)
  const callerOf = ({ socket, headers }: Arrived): CallerAddress =>
    callerAddress(socket.remoteAddress, headers['x-forwarded-for'], isTrusted)
  const lanes = new QuickLanes({ callerOf, beforeAnswer, formLimitBytes: FORM_LIMIT_BYTES })
  const brokenRequests = createBrokenRequestAnswers(deps.publicUrl)
  const app = fastify({
    logger: false,
    genReqId: newRequestId,
    requestIdHeader: false,
    bodyLimit: JSON_LIMIT_BYTES,
    requestTimeout: requestMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // A missing Host is refused by a hook, since Node's own answer has no body.
    http: {
      headersTimeout: headersMs,
      connectionsCheckingInterval: checkEveryMs,
      maxHeaderSize: HEADER_LIMIT_BYTES,
      requireHostHeader: false,
    },
    // While stopping, requests that still arrive on an open connection are served, not turned away.
    return503OnClosing: false,
    forceCloseConnections: false,
    routerOptions: { maxParamLength: 300, caseSensitive: true, ignoreTrailingSlash: false },
    exposeHeadRoutes: false,
    frameworkErrors: (error, request, reply) => {
      // Fastify makes these requests without what we add to all others.
      Object.defineProperty(request, 'caller', { value: callerOf(request.raw) })
      beforeAnswer(reply.raw)
      const refused = deps.badUrl?.(request.url)
      if (refused) answer(refused, request as never, reply as never)
      else unrouted.answerBadUrl(request as never, reply as never, error)
    },
    clientErrorHandler: (error: NodeJS.ErrnoException, socket: Socket) =>
      brokenRequests.answer(error, socket),
  }).withTypeProvider<TypeBoxTypeProvider>()

  const routes: RouteOptions[] = []
  const hooks = createRouteHooks(deps)

  /** The one way to refuse: whatever was thrown, as an answer; on record where it is a refusal, logged where it is a bug. */
  function refusalOf(error: unknown, request: Told, telling: Telling) {
    const problem = problemOf(error, request, telling)
    if (!problem) deps.log.error({ err: error, request_id: request.id }, 'bug')
    const shown = problem ?? bug()
    if (shown.status === 503) request.reason = (error as Error).message
    if (shown.status === 401 || shown.status === 403 || shown.status === 429) deps.onRefusal(request, shown)
    return problemAnswer(shown, request, telling, deps.publicUrl())
  }

  function answer(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const { status, headers, text } = refusalOf(error, request, request.rule ?? {})
    return reply.code(status).header('x-request-id', request.id).headers(headers).send(text)
  }

  app.setValidatorCompiler(createValidatorCompiler())
  // Answers are views that name their fields; a serializer for each would cost memory and time at the start.
  app.setSerializerCompiler(() => JSON.stringify)
  app.setErrorHandler((error, request, reply) => answer(error, request, reply))
  decorateRequests(app, callerOf)
  parseBodies(app)

  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, ...accessRule(route) }
    routes.push(route)
    route.onRequest = [hooks.begin(route.config), ...[route.onRequest ?? []].flat()]
    const record = hooks.recordOf(route.url, route.method)
    route.onResponse = hooks.end(record)
    const { config } = route
    lanes.add(route, {
      record,
      headers: hooks.headersOf(config),
      check: hooks.checkOf(config),
      refuse: (fault, request) => refusalOf(fault, request, config),
    })
    if (route.schema?.body && !route.config.oauth) route.preValidation = bodyRule(route.schema.body)
    else if (route.config.access === 'operator') route.preValidation = noFields
  })
  const unrouted = createUnroutedAnswers(hooks, answer)
  // In a hook and not in the handler: there the body would have been read, and its faults told first.
  app.addHook('onRequest', (request, reply, done) => {
    if (request.is404) unrouted.answer(request, reply)
    else done()
  })
  app.addHook('onSend', (_, reply, body, done) => {
    beforeAnswer(reply.raw)
    done(null, body)
  })
  lanes.standBefore(app.server)
  limitPipelining(app.server)
  const connections = new PlainConnections({
    lanes,
    isStopping: () => stopping,
    keepAliveMs: KEEP_ALIVE_MS,
    silentMs: headersMs,
    lookEveryMs: checkEveryMs,
  })
  connections.standBefore(app.server)
  brokenRequests.watch(app.server)
  cutWhoNeverRead(app.server, NEVER_READ)
  // RFC 9110 §10.1.1 lets a server ignore an expectation that it does not know; Node would answer 417 without a body.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))

  return {
    app,
    routes,
    finish: () => unrouted.learn(refuseOtherMethods(app, [...routes])),
    async stop() {
      stopping = true
      await stopGracefully(app, connections, deps.clock)
    },
  }
}

function decorateRequests(app: App, callerOf: (raw: Arrived) => CallerAddress): void {
  app.decorateRequest('note', undefined)
  app.decorateRequest('rule', undefined)
  app.decorateRequest('reason', undefined)
  app.decorateRequest('takes', 'json')
  app.decorateRequest('actor', null as never)
  app.decorateRequest('projectId', '')
  app.decorateRequest('apiKey', null as never)
  app.decorateRequest('knownCaller', undefined)
  app.decorateRequest('caller', {
    getter(this: FastifyRequest) {
      this.knownCaller ??= callerOf(this.raw)
      return this.knownCaller
    },
  } as never)
}

/** Where a body has no schema there is nothing to say in one, and what is said would be dropped in silence. */
function noFields({ body }: FastifyRequest, _: FastifyReply, done: (error?: Error) => void): void {
  if (typeof (body ?? {}) !== 'object' || Array.isArray(body))
    throw explainValidation([{ keyword: 'type', instancePath: '', params: { type: 'object' } }], 'body')
  const [additionalProperty] = Object.keys(body ?? {})
  if (additionalProperty !== undefined)
    throw explainValidation(
      [{ keyword: 'additionalProperties', instancePath: '', params: { additionalProperty } }],
      'body',
    )
  done()
}

/** OAuth endpoints take forms, the gateway ignores bodies, all others take JSON; none takes another's. */
function parseBodies(app: App): void {
  type Parsed = (error: Error | null, body?: unknown) => void
  const parser =
    (kind: FastifyRequest['takes'] | 'unknown', parse: (body: Buffer) => unknown) =>
    (request: FastifyRequest, body: Buffer, done: Parsed) => {
      try {
        if (request.takes === 'nothing') return done(null)
        if (request.takes !== kind) throw wrongMediaType(request.takes === 'form')
        done(null, parse(body))
      } catch (error) {
        done(error as Error)
      }
    }
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, parser('json', parseJson))
  app.addContentTypeParser(
    FORM,
    { parseAs: 'buffer', bodyLimit: FORM_LIMIT_BYTES },
    parser('form', parseForm),
  )
  app.addContentTypeParser(
    '*',
    { parseAs: 'buffer' },
    parser('unknown', () => undefined),
  )
}
