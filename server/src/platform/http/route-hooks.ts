import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { withoutCredentials } from '../../contract/ids.ts'
import { Problem } from '../../contract/problem.ts'
import { addressMatcher } from '../addresses.ts'
import type { Log } from '../log.ts'
import type { Histogram, Metrics } from '../metrics.ts'
import type { Guards } from './app.ts'

export interface HookDeps {
  readonly log: Log
  readonly metrics: Metrics
  /** One line per request at this level; in a terminal people want to see them. */
  readonly requestLogLevel: 'info' | 'debug'
  /** Who may reach the management routes; empty is everyone. */
  readonly managementAllow: readonly string[]
  readonly guards: Guards
}

export const pathOf = (url: string): string => url.split('?', 1)[0]!

type Config = NonNullable<RouteOptions['config']>

const NEVER_STORED = { 'cache-control': 'no-store', pragma: 'no-cache' }

/** Node would answer this itself, in a shape of its own: HTTP/1.1 needs a host (RFC 9112 §3.2). */
function refuseWithoutHost({ raw }: FastifyRequest): void {
  if (raw.headers.host !== undefined || raw.httpVersionMinor === 0) return
  throw new Problem('invalid_payload', {
    message: 'The Host header is missing.',
    details: 'Send Host, as HTTP/1.1 demands.',
  })
}

/** Node keeps the first of these and drops the others without a word; somebody in front of us may have judged another. */
const SENT_ONCE = ['authorization', 'content-type']

function refuseRepeated({ rawHeaders }: FastifyRequest['raw']): void {
  let seen = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const sent = rawHeaders[i]!
    // By its length first, since this is the hot path.
    if (sent.length !== 12 && sent.length !== 13) continue
    const bit = 1 << (SENT_ONCE.indexOf(sent.toLowerCase()) + 1)
    if (bit > 1 && (seen & bit) !== 0)
      throw new Problem('duplicate_parameter', {
        message: `The header ${sent} was sent more than once.`,
        details: 'Send it once.',
      })
    seen |= bit
  }
}

/** The parser of queries takes an escape that is none for plain text; a filter would then find nothing, without a word. */
function refuseBadEscapes(url: string): void {
  const query = url.indexOf('?')
  if (query < 0 || !url.includes('%', query)) return
  try {
    decodeURIComponent(url.slice(query))
  } catch {
    throw new Problem('invalid_payload', {
      message: 'The query has bad percent-encoding.',
      details: 'Encode it as UTF-8.',
    })
  }
}

/**
 * What happens before and after every handler. Each route gets hooks of its own, made when it is registered: what the
 * route's rules are need not be looked up again at every request. Callbacks, not promises, since this is the hot path.
 */
export function createRouteHooks(deps: HookDeps) {
  const mayManage = addressMatcher(deps.managementAllow)
  const durations = deps.metrics.histogram(
    'jeton_http_request_duration_seconds',
    'Answers by method, route and status.',
  )

  function refuseStrangers({ caller }: FastifyRequest): void {
    if (caller.plain !== null && mayManage(caller.plain)) return
    throw new Problem('ip_not_allowed', {
      message: `The management API may not be reached from ${caller.plain ?? 'an unknown address'}.`,
      details:
        'If that is your proxy and not you, JETON_TRUSTED_PROXIES must name it; JETON_MANAGEMENT_ALLOW says who may.',
      refusal: { step: 'management_address' },
    })
  }

  function guardOf({
    access,
    scope,
  }: Config): ((request: FastifyRequest) => void | Promise<void>) | undefined {
    if (access === 'operator') return (request) => deps.guards.operator(request, undefined)
    if (access === 'scope') return (request) => deps.guards.scope(request, scope!)
    return undefined
  }

  function begin(config: Config = {}) {
    const { access, oauth = false, management = false, takes = 'json' } = config
    const narrowed = management && deps.managementAllow.length > 0
    const neverStored = oauth || access === 'operator'
    const guard = guardOf(config)
    const presentsCredential = access === 'handler' || access === 'scope'
    const readsQuery = access === 'operator' || access === 'scope'
    return (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void => {
      request.takes = takes
      reply.header('x-request-id', request.id)
      reply.header('x-content-type-options', 'nosniff')
      if (neverStored) reply.headers(NEVER_STORED)
      refuseWithoutHost(request)
      if (presentsCredential) refuseRepeated(request.raw)
      if (narrowed) refuseStrangers(request)
      if (readsQuery) refuseBadEscapes(request.url)
      const guarding = guard?.(request)
      if (guarding) guarding.then(() => done(), done)
      else done()
    }
  }

  /** Counts and logs every answer. What is logged is named here, field by field. */
  function end(route: string, methods: string | readonly string[]) {
    const method = typeof methods === 'string' ? methods : 'any'
    const known = new Map<number, Histogram>()
    return (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
      let series = known.get(reply.statusCode)
      if (!series) {
        series = durations({ method, route, status: String(reply.statusCode) })
        known.set(reply.statusCode, series)
      }
      series.observe(reply.elapsedTime / 1000)
      const level = reply.statusCode >= 500 ? 'error' : deps.requestLogLevel
      if (deps.log.isLevelEnabled(level)) logAnswer(request, reply, level)
      done()
    }
  }

  function logAnswer(request: FastifyRequest, reply: FastifyReply, level: 'info' | 'debug' | 'error'): void {
    const { id: request_id, method, note: who } = request
    const ms = Number(reply.elapsedTime.toFixed(1))
    const answer = {
      method,
      url: withoutCredentials(pathOf(request.url)),
      status: reply.statusCode,
      ms,
      request_id,
      address: request.caller.plain,
      who,
    }
    deps.log[level](answer, 'request')
  }

  return { begin, end }
}
