import { CREDENTIAL_PREFIX, ID_PREFIX } from '../../contract/ids.ts'
import { type Database, type Transaction, UniqueConflict } from '../../platform/database/index.ts'
import type { Actor } from '../../platform/http/index.ts'
import { digestOf, last4, newCredential, newId, type RandomBytes } from '../../platform/secrets.ts'
import { recordChange } from '../audit/index.ts'
import { insertOperator, lockOperators, type OperatorRow, replaceOperatorToken } from './operator.store.ts'
import { operatorView } from './operator.ts'

interface Deps {
  readonly db: Database
  readonly random: RandomBytes
}

/** Creates an operator. Its token is shown only once. */
export const createOperator = (deps: Deps, request: { name: string; actor: Actor }) =>
  deps.db.transaction((tx) => createOperatorIn(deps, tx, request))

export async function createOperatorIn(
  deps: { random: RandomBytes },
  tx: Transaction,
  request: { name: string; actor: Actor },
) {
  const token = newCredential(deps.random, CREDENTIAL_PREFIX.management_token)
  const id = newId(deps.random, ID_PREFIX.operator)
  return { ...operatorView(await insert(deps, tx, { ...request, id, token })), token }
}

async function insert(
  deps: { random: RandomBytes },
  tx: Transaction,
  { id, name, token, actor }: { id: string; name: string; token: string; actor: Actor },
): Promise<OperatorRow> {
  const row: OperatorRow = {
    id,
    name,
    token_digest: digestOf(token),
    token_last4: last4(token),
    created_at: await tx.now(),
    last_used_at: null,
  }
  await insertOperator(tx, row)
  await recordChange(deps, tx, {
    actor,
    action: 'operator.created',
    projectId: null,
    subject: { type: 'operator', id },
    before: null,
    after: operatorView(row),
  })
  return row
}

interface Configured {
  readonly id: string
  readonly token: string
}

/** Creates the operator from the settings, or replaces its token if that changed. */
export async function ensureConfiguredOperator(deps: Deps, operator: Configured): Promise<void> {
  try {
    await ensureOperator(deps, operator)
  } catch (error) {
    // Another process created the operator at the same time, so it exists now.
    if (!(error instanceof UniqueConflict)) throw error
    await ensureOperator(deps, operator)
  }
}

async function ensureOperator(deps: Deps, { id, token }: Configured): Promise<void> {
  const actor: Actor = { type: 'system', id: 'settings', address: null, requestId: null }
  await deps.db.transaction(async (tx) => {
    const existing = (await lockOperators(tx)).find((one) => one.id === id)
    if (!existing) return void (await insert(deps, tx, { id, name: id, token, actor }))
    const digest = digestOf(token)
    if (digest.equals(existing.token_digest)) return
    await replaceOperatorToken(tx, id, { token_digest: digest, token_last4: last4(token) })
    await recordChange(deps, tx, {
      actor,
      action: 'operator.regenerated',
      projectId: null,
      subject: { type: 'operator', id },
      before: operatorView(existing),
      after: operatorView({ ...existing, token_last4: last4(token) }),
    })
  })
}
