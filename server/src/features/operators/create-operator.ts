import { CREDENTIAL_PREFIX, ID_PREFIX } from '../../contract/ids.ts'
import type { Role } from '../../contract/roles.ts'
import { type Database, type Transaction, UniqueConflict } from '../../platform/database/index.ts'
import type { Actor } from '../../platform/http/index.ts'
import { digestOf, last4, newCredential, newId, type RandomBytes } from '../../platform/secrets.ts'
import { recordChange } from '../audit/index.ts'
import { adminHasAllProjects } from './change-operator.ts'
import { insertOperator, lockOperators, type OperatorRow, updateOperatorRow } from './operator.store.ts'
import { operatorView, projectsText } from './operator.ts'
import { endSessionsOf } from './session.store.ts'

interface Deps {
  readonly db: Database
  readonly random: RandomBytes
}

interface Creation {
  readonly name: string
  readonly role: Role
  /** Ids; null for all projects. */
  readonly projects: readonly string[] | null
  readonly actor: Actor
}

/** An operator and its token, which is shown this once. */
export const createOperator = (deps: Deps, creation: Creation) =>
  deps.db.transaction((tx) => createOperatorIn(deps, tx, creation))

export async function createOperatorIn(deps: { random: RandomBytes }, tx: Transaction, creation: Creation) {
  if (creation.role === 'admin' && creation.projects) throw adminHasAllProjects()
  const token = newCredential(deps.random, CREDENTIAL_PREFIX.management_token)
  const id = newId(deps.random, ID_PREFIX.operator)
  return { ...operatorView(await insert(deps, tx, { ...creation, id, token })), token }
}

async function insert(
  deps: { random: RandomBytes },
  tx: Transaction,
  { id, name, role, projects, token, actor }: Creation & { id: string; token: string },
): Promise<OperatorRow> {
  const row: OperatorRow = {
    id,
    name,
    role,
    projects: projectsText(projects),
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

const ADMIN = { role: 'admin', projects: null } as const

/** Creates the operator that the settings name, or gives it their token. It is always an admin. */
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
    if (!existing) return void (await insert(deps, tx, { ...ADMIN, id, name: id, token, actor }))
    const digest = digestOf(token)
    const hasToken = digest.equals(existing.token_digest)
    if (hasToken && existing.role === 'admin') return
    const change = { ...ADMIN, token_digest: digest, token_last4: last4(token) }
    await updateOperatorRow(tx, id, change)
    if (!hasToken) await endSessionsOf(tx, id)
    await recordChange(deps, tx, {
      actor,
      action: hasToken ? 'operator.updated' : 'operator.regenerated',
      projectId: null,
      subject: { type: 'operator', id },
      before: operatorView(existing),
      after: operatorView({ ...existing, ...change }),
    })
  })
}
