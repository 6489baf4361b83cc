import { CREDENTIAL_PREFIX } from '../../contract/ids.ts'
import { notFound, Problem } from '../../contract/problem.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Actor } from '../../platform/http/index.ts'
import { digestOf, last4, newCredential, type RandomBytes } from '../../platform/secrets.ts'
import { recordChange } from '../audit/index.ts'
import { deleteOperatorRow, lockOperators, replaceOperatorToken } from './operator.store.ts'
import { operatorView } from './operator.ts'

interface Deps {
  readonly db: Database
  readonly random: RandomBytes
}

export async function regenerateOperator(deps: Deps, { id, actor }: { id: string; actor: Actor }) {
  const token = newCredential(deps.random, CREDENTIAL_PREFIX.management_token)
  return deps.db.transaction(async (tx) => {
    const row = (await lockOperators(tx)).find((operator) => operator.id === id)
    if (!row) throw notFound('operator', id)
    const after = { ...row, token_digest: digestOf(token), token_last4: last4(token) }
    await replaceOperatorToken(tx, id, after)
    await recordChange(deps, tx, {
      actor,
      action: 'operator.regenerated',
      projectId: null,
      subject: { type: 'operator', id },
      before: operatorView(row),
      after: operatorView(after),
    })
    return { ...operatorView(after), token }
  })
}

export async function deleteOperator(deps: Deps, { id, actor }: { id: string; actor: Actor }): Promise<void> {
  await deps.db.transaction(async (tx) => {
    const operators = await lockOperators(tx)
    const row = operators.find((operator) => operator.id === id)
    if (!row) throw notFound('operator', id)
    if (operators.length === 1)
      throw new Problem('invalid_state', {
        message: 'This is the last operator.',
        details: 'Create another operator first: jeton operator create --name admin',
        resource: { type: 'operator', id },
      })
    await deleteOperatorRow(tx, id)
    await recordChange(deps, tx, {
      actor,
      action: 'operator.deleted',
      projectId: null,
      subject: { type: 'operator', id },
      before: operatorView(row),
      after: null,
    })
  })
}
