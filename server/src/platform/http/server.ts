import { createServer, type RequestListener, type Server } from 'node:http'
import type { Socket } from 'node:net'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import fastify, { type FastifyReply, type FastifyRequest, type RouteOptions } from 'fastify'
import type { Problem } from '../../contract/problem.ts'
import { addressMatcher } from '../addresses.ts'
import type { Clock } from '../clock.ts'
import { accessRule } from './access-rule.ts'
import type { App, RawRequest } from './app.ts'
import { addBodyParsers, JSON_LIMIT_BYTES, refuseFields, requireBody } from './body-parsers.ts'
import { type ClientAddress, clientAddress } from './client-address.ts'
import { bug, type ErrorContext, type ErrorFormat, errorResponse, problemOf } from './errors.ts'
import { FastPathServer } from './fast-path/connection.ts'
import { createHooks, type HookDeps } from './hooks.ts'
import { answerMalformed } from './malformed-requests.ts'
import { limitPipelining, pipelineOf } from './pipelining.ts'
import { newRequestId } from './request-id.ts'
import { stopGracefully } from './shutdown.ts'
import { ALL_METHODS, CATCH_ALL, createUnroutedAnswers } from './unrouted.ts'
import { createValidatorCompiler } from './validators.ts'

/** Longer than the idle timeout of common proxies (60 s): the proxy closes first, and no request is lost. */
const KEEP_ALIVE_MS = 72_000

/**
 * Client timeouts: for the first byte on a new connection and for the head of a request, for the whole request, and without
 * progress while a response is due. Node's default interval of 30 s between checks would add as much to each.
 */
type Timeouts = Readonly<Record<'headersMs' | 'requestMs' | 'stalledMs' | 'checkEveryMs', number>>

const TIMEOUTS: Timeouts = { headersMs: 10_000, requestMs: 30_000, stalledMs: 60_000, checkEveryMs: 250 }

export interface HttpDeps extends HookDeps {
  readonly clock: Clock
  readonly trustedProxies: readonly string[]
  readonly fastPath?: boolean
  /** Called for every 401, 403 and 429; it must not block. */
  readonly onRefusal: (request: ErrorContext, problem: Problem) => void
  readonly publicUrl: () => string
  /** Error for a path that cannot be decoded, if it is not the usual one. */
  readonly badUrl?: (url: string) => Problem | undefined
  readonly timeouts?: Timeouts
}

export interface Http {
  readonly app: App
  readonly routes: readonly RouteOptions[]
  /** Call it after all routes are registered. Every other path is then 404 and every other method 405. */
  finish(): void
  /** Drops no accepted request; see `stopGracefully`. */
  stop(): Promise<void>
}

function createNodeServer(timeouts: Timeouts, listener: RequestListener): Server {
  const server = createServer({
    headersTimeout: timeouts.headersMs,
    requestTimeout: timeouts.requestMs,
    connectionsCheckingInterval: timeouts.checkEveryMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: 16 * 1024,
    // A hook refuses a missing Host, because Node's own response has no body.
    requireHostHeader: false,
  })
  // RFC 9110 §10.1.1 lets a server ignore an unknown expectation; Node would respond 417 without a body.
  server.on('request', listener).on('checkExpectation', listener)
  return server.setTimeout(timeouts.stalledMs)
}

export function createHttp(deps: HttpDeps): Http {
  const timeouts = deps.timeouts ?? TIMEOUTS
  const isTrusted = addressMatcher(deps.trustedProxies)
  const callerOf = ({ socket, headers }: RawRequest): ClientAddress =>
    clientAddress(socket.remoteAddress, headers['x-forwarded-for'], isTrusted)
  const routes: RouteOptions[] = []
  const hooks = createHooks(deps, callerOf)
  const unrouted = createUnroutedAnswers(hooks)
  let isStopping = false

  const app: App = fastify({
    logger: false,
    genReqId: newRequestId,
    requestIdHeader: false,
    bodyLimit: JSON_LIMIT_BYTES,
    serverFactory: (handler) =>
      createNodeServer(timeouts, (request, response) => {
        pipelineOf(request.socket)?.begin(request, response)
        handler(request, response)
      }),
    // During a shutdown, requests that still arrive on open connections are served.
    return503OnClosing: false,
    forceCloseConnections: false,
    routerOptions: { maxParamLength: 300, caseSensitive: true, ignoreTrailingSlash: false },
    exposeHeadRoutes: false,
    frameworkErrors: (error, request, reply) => refuseBadUrl(error, request as never, reply as never),
    clientErrorHandler: (error: NodeJS.ErrnoException, socket: Socket) => {
      if (pipelineOf(socket)?.fail() ?? true) answerMalformed(error, socket, deps.publicUrl())
    },
  }).withTypeProvider<TypeBoxTypeProvider>()

  /** Turns anything that was thrown into a response. Refusals are recorded, bugs are logged. */
  function toErrorResponse(error: unknown, request: ErrorContext, format: ErrorFormat) {
    const problem = problemOf(error, request, format)
    if (!problem) deps.log.error({ err: error, request_id: request.id }, 'bug')
    const shown = problem ?? bug()
    if (shown.status === 503) request.reason = (error as Error).message
    if (shown.status === 401 || shown.status === 403 || shown.status === 429) deps.onRefusal(request, shown)
    return errorResponse(shown, request, { ...format, publicUrl: deps.publicUrl() })
  }

  function answer(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const { status, headers, text } = toErrorResponse(error, request, request.rule?.config ?? {})
    reply.code(status).headers(headers).send(text)
  }

  /** Fastify calls no hooks for a path that it cannot decode. */
  function refuseBadUrl(error: Error, request: FastifyRequest, reply: FastifyReply): void {
    unrouted.begin(request, reply, (refusal) => {
      answer(refusal ?? deps.badUrl?.(request.url) ?? error, request, reply)
      end(request, reply)
    })
  }

  /** During a shutdown every response is the last one on its connection. */
  function end(request: FastifyRequest, reply: FastifyReply): void {
    if (isStopping) reply.raw.shouldKeepAlive = false
    hooks.end(request, reply)
  }

  app.setValidatorCompiler(createValidatorCompiler())
  // Views list every field of a response. A serializer for each would cost memory and start-up time.
  app.setSerializerCompiler(() => JSON.stringify)
  app.setErrorHandler(answer)
  for (const name of ['caller', 'rule', 'startedAt', 'bodyType', 'logNote', 'reason', 'span'] as const)
    app.decorateRequest(name, undefined as never)
  for (const name of ['actor', 'operator', 'projectId', 'apiKey'] as const)
    app.decorateRequest(name, null as never)
  addBodyParsers(app)
  for (const method of ALL_METHODS) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method)
  limitPipelining(app.server)
  const fastPath = deps.fastPath
    ? new FastPathServer({
        ...{ callerOf, toErrorResponse, isStopping: () => isStopping, keepAliveMs: KEEP_ALIVE_MS },
        ...{ firstByteMs: timeouts.headersMs, checkEveryMs: timeouts.checkEveryMs },
      })
    : undefined
  fastPath?.attachTo(app.server)

  app.addHook('onRoute', (route) => {
    if (route.url === CATCH_ALL) return
    route.config = { ...route.config, ...accessRule(route) }
    routes.push(route)
    const rule = hooks.ruleFor(route)
    route.onRequest = rule.begin
    fastPath?.routes.add(route, rule)
    if (route.schema?.body && !route.config.oauth) route.preValidation = requireBody(route.schema.body)
    else if (route.config.access === 'operator') route.preValidation = refuseFields
  })
  const { tracer } = deps
  // Node reads the body outside of the span in which the request began.
  if (tracer) app.addHook('preValidation', ({ span }, _, done) => (span ? tracer.within(span, done) : done()))
  app.addHook('onSend', (request, reply, payload, done) => {
    end(request, reply)
    done(null, payload)
  })

  return {
    app,
    routes,
    finish: () => unrouted.register(app, [...routes]),
    async stop() {
      isStopping = true
      await stopGracefully(app, deps.clock, fastPath)
    },
  }
}
