import { notFound } from '../../contract/problem.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Actor, CallingOperator } from '../../platform/http/index.ts'
import type { RandomBytes } from '../../platform/secrets.ts'
import { recordChange } from '../audit/index.ts'
import { deleteSession, findLiveSession } from './session.store.ts'
import { sessionView } from './session.ts'

interface Deps {
  readonly db: Database
  readonly random: RandomBytes
}

/** Ends a session of the operator itself; admins end any. Others cannot tell it from one that does not exist. */
export async function endSession(
  deps: Deps,
  { id, operator, actor }: { id: string; operator: CallingOperator; actor: Actor },
): Promise<void> {
  await deps.db.transaction(async (tx) => {
    const row = await findLiveSession(tx, id, await tx.now())
    const mayEnd = row?.operator_id === operator.id || operator.role === 'admin'
    if (!row || !mayEnd || !(await deleteSession(tx, { id }))) throw notFound('session', id)
    await recordChange(deps, tx, {
      actor,
      action: 'session.ended',
      projectId: null,
      subject: { type: 'session', id },
      before: sessionView(row),
      after: null,
    })
  })
}
