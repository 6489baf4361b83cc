import type { FastifyRequest } from 'fastify'
import { Problem } from '../../contract/problem.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Guard, LoginThrottle, OperatorRule } from '../../platform/http/index.ts'
import { digestOf, sameDigest } from '../../platform/secrets.ts'
import { authorizeOperator } from './authorize-operator.ts'
import { findOperator, saveOperatorUse } from './operator.store.ts'
import { projectsOf } from './operator.ts'

interface Deps {
  readonly db: Database
  readonly clock: Clock
  readonly attempts: LoginThrottle
}

/** One answer for every wrong credential; only the step on record differs. */
const refused = (step: string): Problem =>
  new Problem('unauthorized', {
    message: 'The management credentials were not accepted.',
    details:
      'Check X-Management-Id and X-Management-Token. A new operator can be made on the machine of the store: jeton operator create --local',
    refusal: { step },
  })

const header = (request: FastifyRequest, name: string): string | undefined => {
  const value = request.headers[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Compared with when the id is unknown, so that the answer takes as long. */
const NOBODY = digestOf('nobody')

/** Management is rare and powerful: every call asks the store, so a deleted operator is out at once, everywhere. */
export function createOperatorGuard(deps: Deps): { guard: Guard<OperatorRule>; flush: () => Promise<void> } {
  const uses = new Map<string, number>()

  async function guard(request: FastifyRequest, rule: OperatorRule): Promise<void> {
    const id = header(request, 'x-management-id')
    const token = header(request, 'x-management-token')
    if (id === undefined || token === undefined) throw refused('management_credential_missing')
    const operator = id.length <= 64 ? await findOperator(deps.db, id) : undefined
    const right = sameDigest(digestOf(token), operator?.token_digest ?? NOBODY)
    if (!operator || !right) {
      const step = operator ? 'management_token_wrong' : 'management_id_unknown'
      throw deps.attempts.recordFailure(request.caller.plain, `management ${id}`, refused(step))
    }
    uses.set(operator.id, deps.clock.now())
    request.logNote = operator.name
    request.actor = {
      type: 'operator',
      id: operator.id,
      address: request.caller.plain,
      requestId: request.id,
    }
    const { role } = operator
    request.operator = { id: operator.id, name: operator.name, role, projects: projectsOf(operator) }
    authorizeOperator(request, request.operator, rule)
  }

  async function flush(): Promise<void> {
    if (uses.size === 0) return
    const gathered = new Map(uses)
    uses.clear()
    await deps.db.transaction((tx) => saveOperatorUse(tx, gathered))
  }

  return { guard, flush }
}
