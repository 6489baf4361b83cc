import type { FastifyRequest } from 'fastify'
import { CREDENTIAL_PREFIX } from '../../contract/ids.ts'
import { Problem } from '../../contract/problem.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Guard, LoginThrottle, OperatorRule } from '../../platform/http/index.ts'
import { digestOf, routingOf, sameDigest } from '../../platform/secrets.ts'
import { authorizeOperator } from './authorize-operator.ts'
import { isPolling, requireConsoleRequest } from './console-request.ts'
import { findOperator, type OperatorRow, saveOperatorUse } from './operator.store.ts'
import { projectsOf } from './operator.ts'
import { findSession, saveSessionUse } from './session.store.ts'
import { isLive, type SessionRow, USE_EVERY_MS } from './session.ts'
import type { SessionCookies } from './session-cookie.ts'

interface Deps {
  readonly db: Database
  readonly clock: Clock
  readonly attempts: LoginThrottle
  readonly sessionCookies: SessionCookies
}

/** Same response for every wrong credential. Only the recorded step differs. */
const refused = (step: string): Problem =>
  new Problem('unauthorized', {
    message: 'The management credentials were not accepted.',
    details:
      'Check X-Management-Id and X-Management-Token. To create an operator on the host of the store: jeton operator create --local',
    refusal: { step },
  })

const sessionOver = (): Problem =>
  new Problem('unauthorized', {
    message: 'The session is over.',
    details: 'Sign in again.',
    refusal: { step: 'session_invalid' },
  })

const conflicting = (): Problem =>
  new Problem('conflicting_credentials', {
    message: 'The request has a session cookie and X-Management-Id or X-Management-Token.',
    details: 'Send one of them: the cookie from a browser, the headers from a program.',
  })

const header = (request: FastifyRequest, name: string): string | undefined => {
  const value = request.headers[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Compared if the id is unknown, so that the response takes as long. */
const NOBODY = digestOf('nobody')

interface Authenticated {
  readonly operator: OperatorRow
  readonly session: SessionRow | null
}

/**
 * Accepts the header pair or the cookie of a session. Management is rare and powerful, so every call reads the operator
 * from the store: a deleted operator is out at once in every process, and a new role counts from the next request.
 */
export function createOperatorGuard(deps: Deps): { guard: Guard<OperatorRule>; flush: () => Promise<void> } {
  const uses = new Map<string, number>()
  const sessionUses = new Map<string, number>()

  async function byPair(request: FastifyRequest): Promise<Authenticated> {
    const id = header(request, 'x-management-id')
    const token = header(request, 'x-management-token')
    if (id === undefined || token === undefined) throw refused('management_credential_missing')
    const operator = id.length <= 64 ? await findOperator(deps.db, id) : undefined
    const right = sameDigest(digestOf(token), operator?.token_digest ?? NOBODY)
    if (!operator || !right) {
      const step = operator ? 'management_token_wrong' : 'management_id_unknown'
      throw deps.attempts.recordFailure(request.caller.ip, `management ${id}`, refused(step))
    }
    return { operator, session: null }
  }

  async function bySession(request: FastifyRequest, cookie: string): Promise<Authenticated> {
    requireConsoleRequest(request)
    if (routingOf(cookie, CREDENTIAL_PREFIX.session, 0) === null) throw sessionOver()
    const digest = digestOf(cookie)
    const [found, now] = await Promise.all([findSession(deps.db, digest), deps.db.now()])
    if (!found || !sameDigest(digest, found.session.digest) || !isLive(found.session, now))
      throw sessionOver()
    const { id, last_used_at } = found.session
    if (!isPolling(request) && now >= last_used_at + USE_EVERY_MS) sessionUses.set(id, now)
    return found
  }

  function authenticate(request: FastifyRequest): Promise<Authenticated> {
    const cookie = deps.sessionCookies.read(request)
    if (cookie === undefined) return byPair(request)
    const { headers } = request
    if (headers['x-management-id'] !== undefined || headers['x-management-token'] !== undefined)
      throw conflicting()
    return bySession(request, cookie)
  }

  async function guard(request: FastifyRequest, rule: OperatorRule): Promise<void> {
    const { operator, session } = await authenticate(request)
    const { id, name, role } = operator
    // Only a console polls. With the header pair every request is a use.
    if (session === null || !isPolling(request)) uses.set(id, deps.clock.now())
    request.logNote = name
    request.actor = {
      type: 'operator',
      id,
      address: request.caller.ip,
      requestId: request.id,
      via: session ? 'session' : 'token',
    }
    request.operator = { id, name, role, projects: projectsOf(operator), sessionId: session?.id ?? null }
    authorizeOperator(request, request.operator, rule)
  }

  async function flush(): Promise<void> {
    if (uses.size === 0 && sessionUses.size === 0) return
    const [operators, sessions] = [new Map(uses), new Map(sessionUses)]
    uses.clear()
    sessionUses.clear()
    await deps.db.transaction(async (tx) => {
      await saveOperatorUse(tx, operators)
      await saveSessionUse(tx, sessions)
    })
  }

  return { guard, flush }
}
