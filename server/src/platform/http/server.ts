import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import fastify, { type FastifyReply, type FastifyRequest, type HTTPMethods, type RouteOptions } from 'fastify'
import { Problem } from '../../contract/problem.ts'
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
import { PlainConnections } from './plain-connections.ts'
import { type Arrived, QuickLanes } from './quick-answers.ts'
import { newRequestId } from './request-id.ts'
import { createRouteHooks, type HookDeps, pathOf } from './route-hooks.ts'
import { createValidatorCompiler } from './validators.ts'

const JSON_LIMIT_BYTES = 1024 * 1024
const FORM_LIMIT_BYTES = 16 * 1024
const HEADER_LIMIT_BYTES = 16 * 1024
/** Slow clients hold a socket, not the service: headers within 10 s, all of the request within 30 s. */
const HEADERS_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 30_000
/** Longer than the idle timeouts of common proxies (60 s), so that it is the proxy that closes and no request is lost. */
const KEEP_ALIVE_MS = 72_000
const LOOK_FOR_SILENT_EVERY_MS = 2_000
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
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // A missing Host is refused by a hook, since Node's own answer has no body.
    http: {
      headersTimeout: HEADERS_TIMEOUT_MS,
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
      answer(deps.badUrl?.(request.url) ?? error, request as never, reply as never)
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
    if (shown.status === 401 || shown.status === 403 || shown.status === 429) deps.onRefusal(request, shown)
    return problemAnswer(shown, request, telling, deps.publicUrl())
  }

  function answer(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const { status, headers, text } = refusalOf(error, request, request.routeOptions?.config ?? {})
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
  const [beginUnknown, endUnknown] = [hooks.begin(), hooks.end(hooks.recordOf('unknown', 'any'))]
  // In a hook and not in the handler: there the body would have been read, and its faults told first.
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) return done()
    reply.raw.once('finish', () => endUnknown(request, reply, () => undefined))
    beginUnknown(request, reply, (error) => done(error ?? unknownPath(request)))
  })
  app.addHook('onSend', (_, reply, body, done) => {
    beforeAnswer(reply.raw)
    done(null, body)
  })
  lanes.standBefore(app.server)
  const connections = new PlainConnections({
    lanes,
    isStopping: () => stopping,
    keepAliveMs: KEEP_ALIVE_MS,
    silentMs: HEADERS_TIMEOUT_MS,
    lookEveryMs: LOOK_FOR_SILENT_EVERY_MS,
  })
  connections.standBefore(app.server)
  brokenRequests.watch(app.server)
  cutWhoNeverRead(app.server, NEVER_READ)
  // RFC 9110 §10.1.1 lets a server ignore an expectation that it does not know; Node would answer 417 without a body.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))

  return {
    app,
    routes,
    finish: () => refuseOtherMethods(app, [...routes]),
    async stop() {
      stopping = true
      await stopGracefully(app, connections, deps.clock)
    },
  }
}

function unknownPath(request: FastifyRequest): Problem {
  return new Problem('not_found', {
    message: `There is nothing at ${request.method} ${JSON.stringify(pathOf(request.url).slice(0, 120))}.`,
    details: 'The API reference at /docs lists every path.',
  })
}

function decorateRequests(app: App, callerOf: (raw: Arrived) => CallerAddress): void {
  app.decorateRequest('note', undefined)
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

const METHODS: readonly HTTPMethods[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE']

function refuseOtherMethods(app: App, routes: readonly RouteOptions[]): void {
  const byUrl = Map.groupBy(routes, (route) => route.url)
  for (const [url, own] of byUrl) {
    const allowed = own.flatMap((route) => route.method as HTTPMethods | HTTPMethods[])
    const others = METHODS.filter((method) => !allowed.includes(method))
    if (others.length === 0) continue
    const allow = allowed.join(', ')
    app.route({
      method: others,
      url,
      schema: { hide: true } as never,
      config: ruleOfOthers(own[0]!.config),
      onRequest: async (request) => {
        throw new Problem('method_not_allowed', {
          message: `${request.method} is not possible here.`,
          details: `Use ${allow.replace(', ', ' or ')}.`,
          headers: { allow },
        })
      },
      handler: async () => undefined,
    })
  }
}

/** What is part of the API asks for a scope by whatever method; elsewhere that a method is not there is no secret. */
const ruleOfOthers = ({ access, scope, oauth }: RouteOptions['config'] = {}): RouteOptions['config'] =>
  access === 'scope' ? { access, ...(scope && { scope }) } : { access: 'public', oauth: oauth === true }

/** For the request that is on its way, on a connection that was idle when we began to stop. */
const STOP_GRACE_MS = 300

/**
 * A client that never finishes its request, or never begins one, holds a socket and not the service. Less than the 10 s
 * after which common supervisors kill.
 */
const STOP_WITHIN_MS = 8_000
const LOOK_FOR_IDLE_EVERY_MS = 100

/** Where new ones come without end, somebody is turned away in any case. */
const TURNS_MOST = 50

/**
 * Takes in what has arrived already: connections that wait to be accepted, of which Node takes one a turn, and requests
 * on connections that only pass for idle because nobody has read them yet. Closing these would cut a request off that a
 * proxy may not repeat. It returns right after a look that found nothing.
 */
async function takeIn({ server }: App, connections: PlainConnections): Promise<void> {
  let [seen, arrived] = [-1, 0]
  const note = () => {
    arrived++
  }
  server.on('connection', note).on('request', note)
  for (let turns = 0; seen !== arrived + connections.seen && turns < TURNS_MOST; turns++) {
    seen = arrived + connections.seen
    await nextTurn()
  }
  server.off('connection', note).off('request', note)
}

/**
 * No accepted request is dropped: for a moment everything is still served, with `Connection: close`; then the listener
 * and idle connections close, and what is in flight finishes.
 */
async function stopGracefully(app: App, connections: PlainConnections, clock: Clock): Promise<void> {
  if (app.server.listening) {
    await clock.sleep(STOP_GRACE_MS)
    await takeIn(app, connections)
  }
  let open = true
  const closed = app.close().finally(() => (open = false))
  for (let waited = 0; open && waited < STOP_WITHIN_MS; waited += LOOK_FOR_IDLE_EVERY_MS) {
    app.server.closeIdleConnections()
    connections.closeIdle()
    await Promise.race([closed, clock.sleep(LOOK_FOR_IDLE_EVERY_MS)])
  }
  app.server.closeAllConnections()
  connections.closeAll()
  await closed
}
