import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { withoutCredentials } from '../../contract/ids.ts'
import { Problem } from '../../contract/problem.ts'
import { addressMatcher } from '../addresses.ts'
import type { Log } from '../log.ts'
import type { Histogram, Metrics } from '../metrics.ts'
import type { Guards } from './app.ts'
import type { Arrived, Recorded } from './quick-answers.ts'

export interface HookDeps {
  readonly log: Log
  readonly metrics: Metrics
  /** One line per request at this level; in a terminal people want to see them. */
  readonly requestLogLevel: 'info' | 'debug'
  /** Who may reach the management routes; empty is everyone. */
  readonly managementAllow: readonly string[]
  readonly guards: Guards
}

/** Without the query. */
export function pathOf(url: string): string {
  const query = url.indexOf('?')
  return query < 0 ? url : url.slice(0, query)
}

type Config = NonNullable<RouteOptions['config']>

const NOT_STORED = ['cache-control', 'no-store']
const NEVER_STORED = [...NOT_STORED, 'pragma', 'no-cache']

/** Node would answer this itself, in a shape of its own: HTTP/1.1 needs a host (RFC 9112 §3.2). */
function refuseWithoutHost({ headers, httpVersionMinor }: Arrived): void {
  if (headers.host !== undefined || httpVersionMinor === 0) return
  throw new Problem('invalid_payload', {
    message: 'The Host header is missing.',
    details: 'Send Host, as HTTP/1.1 demands.',
  })
}

/** Node keeps the first of these and drops the others without a word; somebody in front of us may have judged another. */
const SENT_ONCE = ['authorization', 'content-type']

function refuseRepeated({ rawHeaders }: Arrived): void {
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

  /** What every answer of a route carries, as names and values in turn. */
  function headersOf({ access, oauth, refusalInHeader, noStore }: Config): readonly string[] {
    const isPrivate = access === 'scope' || refusalInHeader || noStore
    const caching = oauth || access === 'operator' ? NEVER_STORED : isPrivate ? NOT_STORED : []
    return ['x-content-type-options', 'nosniff', ...caching]
  }

  /** What is wrong with a request whatever is asked. */
  function checkOf({ access }: Config): (raw: Arrived) => void {
    const presentsCredential = access === 'handler' || access === 'scope'
    return (raw) => {
      refuseWithoutHost(raw)
      if (presentsCredential) refuseRepeated(raw)
    }
  }

  function begin(config: Config = {}) {
    const { access, management = false, takes = 'json' } = config
    const narrowed = management && deps.managementAllow.length > 0
    const headers = headersOf(config)
    const check = checkOf(config)
    const guard = guardOf(config)
    const readsQuery = access === 'operator' || access === 'scope'
    return (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void => {
      request.takes = takes
      request.rule = config
      reply.header('x-request-id', request.id)
      for (let i = 0; i < headers.length; i += 2) reply.header(headers[i]!, headers[i + 1])
      check(request.raw)
      if (narrowed) refuseStrangers(request)
      if (readsQuery) refuseBadEscapes(request.url)
      const guarding = guard?.(request)
      if (guarding) guarding.then(() => done(), done)
      else done()
    }
  }

  /** Counts and logs every answer of a route. What is logged is named here, field by field. */
  function recordOf(route: string, methods: string | readonly string[]): (answer: Recorded) => void {
    const method = typeof methods === 'string' ? methods : 'any'
    const known = new Map<number, Histogram>()
    return (answer) => {
      let series = known.get(answer.status)
      if (!series) {
        series = durations({ method, route, status: String(answer.status) })
        known.set(answer.status, series)
      }
      series.observe(answer.ms / 1000)
      const level = answer.status >= 500 ? 'error' : deps.requestLogLevel
      if (deps.log.isLevelEnabled(level)) logAnswer(answer, level)
    }
  }

  function end(record: (answer: Recorded) => void) {
    return (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
      const { id, method, url, caller, note, reason } = request
      record({ status: reply.statusCode, ms: reply.elapsedTime, id, method, url, caller, note, reason })
      done()
    }
  }

  function logAnswer(
    { status, ms, id, method, url, caller, note, reason }: Recorded,
    level: 'info' | 'debug' | 'error',
  ): void {
    const answer = {
      method,
      url: withoutCredentials(pathOf(url)),
      status,
      ms: Number(ms.toFixed(1)),
      request_id: id,
      address: caller.plain,
      who: note,
      reason,
    }
    deps.log[level](answer, 'request')
  }

  return { begin, end, headersOf, checkOf, recordOf }
}
