import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { withoutCredentials } from '../../contract/ids.ts'
import { Problem } from '../../contract/problem.ts'
import { addressMatcher } from '../addresses.ts'
import type { Log } from '../log.ts'
import type { Histogram, Metrics } from '../metrics.ts'
import type { Tracer } from '../tracing.ts'
import type { ApiResponse, FastHandler, Guards, RawRequest, RouteRule } from './app.ts'
import type { ClientAddress } from './client-address.ts'
import { invalidPayload, sentTwice } from './errors.ts'
import { endSpan, spanFor } from './request-span.ts'

export interface HookDeps {
  readonly log: Log
  readonly metrics: Metrics
  readonly requestLogLevel: 'info' | 'debug'
  /** Addresses that may reach the management routes. Empty means all. */
  readonly managementAllow: readonly string[]
  readonly guards: Guards
  readonly tracer?: Tracer | undefined
}

export function pathOf(url: string): string {
  const query = url.indexOf('?')
  return query < 0 ? url : url.slice(0, query)
}

type Config = NonNullable<RouteOptions['config']>

const NO_STORE = ['cache-control', 'no-store']
const NO_STORE_NO_CACHE = [...NO_STORE, 'pragma', 'no-cache']

function headersFor({ access, oauth, refusalInHeader, noStore }: Config): readonly string[] {
  const isPrivate = access === 'scope' || refusalInHeader || noStore
  const caching = oauth || access === 'operator' ? NO_STORE_NO_CACHE : isPrivate ? NO_STORE : []
  return ['x-content-type-options', 'nosniff', ...caching]
}

/** HTTP/1.1 requires a host (RFC 9112 §3.2). Node's own response would have no body. */
function refuseWithoutHost({ headers, httpVersionMinor }: RawRequest): void {
  if (headers.host === undefined && httpVersionMinor > 0)
    throw invalidPayload('The Host header is missing.', 'HTTP/1.1 requires it.')
}

/** Node silently keeps the first of these headers. A proxy in front may have used another one. */
const SENT_ONCE = ['authorization', 'content-type']

function refuseRepeated({ rawHeaders }: RawRequest): void {
  let seen = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const sent = rawHeaders[i]!
    // Compares the length first, because this runs for every request.
    if (sent.length !== 12 && sent.length !== 13) continue
    const bit = 1 << (SENT_ONCE.indexOf(sent.toLowerCase()) + 1)
    if (bit > 1 && (seen & bit) !== 0)
      throw sentTwice(`The header ${sent} was sent more than once.`, 'Send it once.')
    seen |= bit
  }
}

/** The query parser treats an invalid escape as text. A filter would then silently find nothing. */
function refuseBadEscapes(url: string): void {
  const query = url.indexOf('?')
  if (query < 0 || !url.includes('%', query)) return
  try {
    decodeURIComponent(url.slice(query))
  } catch {
    throw invalidPayload('The query has bad percent-encoding.', 'Encode it as UTF-8.')
  }
}

function send(reply: FastifyReply, { headers, text }: ApiResponse): void {
  for (let i = 0; i < headers.length; i += 2) reply.header(headers[i]!, headers[i + 1])
  reply.send(text)
}

/** Adapts a `FastHandler` to Fastify. A response that is ready is sent without a promise. */
export const fastifyHandler = (handle: FastHandler) => (request: FastifyRequest, reply: FastifyReply) => {
  const response = handle(request)
  if (response instanceof Promise) return response.then((late) => send(reply, late))
  send(reply, response)
}

export function createHooks(deps: HookDeps, callerOf: (raw: RawRequest) => ClientAddress) {
  const isManager = addressMatcher(deps.managementAllow)
  const durations = deps.metrics.histogram('jeton_http_request_duration_seconds')

  function refuseUnlisted({ caller: { ip } }: FastifyRequest): void {
    if (ip !== null && isManager(ip)) return
    throw new Problem('ip_not_allowed', {
      message: `The management API is not allowed from ${ip ?? 'an unknown address'}.`,
      details:
        'If this is the address of your proxy, add it to JETON_TRUSTED_PROXIES. Otherwise add it to JETON_MANAGEMENT_ALLOW.',
      refusal: { step: 'management_address' },
    })
  }

  /** Runs before the body is read, after the request was checked: authenticates, or sends the whole response. */
  function actionFor({ access, role, projects, scope, bodyType, fast }: Config) {
    if (bodyType === 'nothing' && fast) return fastifyHandler(fast)
    if (access === 'operator')
      return (request: FastifyRequest) => deps.guards.operator(request, { role: role!, projects })
    if (access === 'scope') return (request: FastifyRequest) => deps.guards.scope(request, scope!)
    return undefined
  }

  function beginFor(rule: Omit<RouteRule, 'begin'>): RouteRule['begin'] {
    const { config, headers, check, enterSpan } = rule
    const { access, management = false, bodyType = 'json' } = config
    const isRestricted = management && deps.managementAllow.length > 0
    const readsQuery = access === 'operator' || access === 'scope'
    const act = actionFor(config)
    const begin: RouteRule['begin'] = (request, reply, done) => {
      request.startedAt = performance.now()
      request.bodyType = bodyType
      request.rule = rule as RouteRule
      request.caller = callerOf(request.raw)
      reply.header('x-request-id', request.id)
      for (let i = 0; i < headers.length; i += 2) reply.header(headers[i]!, headers[i + 1])
      check(request.raw)
      if (isRestricted) refuseUnlisted(request)
      if (readsQuery) refuseBadEscapes(request.url)
      const pending = act?.(request, reply)
      if (pending) pending.then(() => done(), done)
      else if (!reply.sent) done()
    }
    if (!enterSpan) return begin
    return (request, reply, done) => enterSpan(request, () => begin(request, reply, done))
  }

  /** Counts and logs every response of a route. The log contains only the fields listed here. */
  function recorderFor(route: string, methods: string | readonly string[]): RouteRule['record'] {
    const method = typeof methods === 'string' ? methods : 'any'
    const byStatus = new Map<number, Histogram>()
    return (entry) => {
      const { status, ms, id, method: sent, url, caller, logNote, reason, span } = entry
      if (span) endSpan(span, entry)
      const series = byStatus.get(status) ?? durations({ method, route, status: String(status) })
      byStatus.set(status, series)
      series.observe(ms / 1000)
      const level = status >= 500 ? 'error' : deps.requestLogLevel
      if (!deps.log.isLevelEnabled(level)) return
      const path = withoutCredentials(pathOf(url))
      const about = { ms: Number(ms.toFixed(1)), request_id: id, address: caller.ip, who: logNote, reason }
      deps.log[level]({ method: sent, url: path, status, ...about }, 'request')
    }
  }

  return {
    ruleFor({ url, method, config = {} }: Pick<RouteOptions, 'url' | 'method' | 'config'>): RouteRule {
      const presentsCredential = config.access === 'handler' || config.access === 'scope'
      const check = (raw: RawRequest) => {
        refuseWithoutHost(raw)
        if (presentsCredential) refuseRepeated(raw)
      }
      const enterSpan = spanFor(deps.tracer, url)
      const record = recorderFor(url, method)
      const rule = { config, headers: headersFor(config), check, record, enterSpan }
      return Object.assign(rule, { begin: beginFor(rule) })
    },
    /** Counts and logs a response when it is sent. With the hook `onResponse`, Fastify would add listeners to each one. */
    end(request: FastifyRequest, { statusCode: status }: FastifyReply): void {
      const { id, method, url, caller, logNote, reason, span, startedAt } = request
      const ms = performance.now() - startedAt
      request.rule?.record({ status, ms, id, method, url, caller, logNote, reason, span })
    },
  }
}

export type Hooks = ReturnType<typeof createHooks>
