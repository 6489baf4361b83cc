import { CREDENTIAL_PREFIX } from '../../contract/ids.ts'
import { notFound, Problem } from '../../contract/problem.ts'
import type { Role } from '../../contract/roles.ts'
import type { Database, Transaction } from '../../platform/database/index.ts'
import type { Actor } from '../../platform/http/index.ts'
import { digestOf, last4, newCredential, type RandomBytes } from '../../platform/secrets.ts'
import { recordChange } from '../audit/index.ts'
import { deleteOperatorRow, lockOperators, type OperatorRow, updateOperatorRow } from './operator.store.ts'
import { operatorView, projectsText } from './operator.ts'
import { endSessionsOf } from './session.store.ts'

interface Deps {
  readonly db: Database
  readonly random: RandomBytes
}

interface Target {
  readonly id: string
  readonly actor: Actor
}

interface Locked {
  readonly row: OperatorRow
  readonly isLastAdmin: boolean
}

async function requireLocked(tx: Transaction, id: string): Promise<Locked> {
  const operators = await lockOperators(tx)
  const row = operators.find((operator) => operator.id === id)
  if (!row) throw notFound('operator', id)
  const admins = operators.filter(({ role }) => role === 'admin')
  return { row, isLastAdmin: admins.length === 1 && admins[0]!.id === id }
}

const lastAdmin = (id: string): Problem =>
  new Problem('invalid_state', {
    message: 'This is the last admin.',
    details: 'Create another one first: jeton operator create --name admin --role admin',
    resource: { type: 'operator', id },
  })

export const adminHasAllProjects = (): Problem =>
  new Problem('invalid_payload', {
    message: 'projects must be null for an admin, who manages all projects.',
    details: 'Leave projects out, or choose the role editor or viewer.',
  })

interface Recorded extends Target {
  readonly action: string
  readonly before: OperatorRow
  readonly after: OperatorRow | null
}

const record = (deps: Deps, tx: Transaction, { id, actor, action, before, after }: Recorded) =>
  recordChange(deps, tx, {
    actor,
    action,
    projectId: null,
    subject: { type: 'operator', id },
    before: operatorView(before),
    after: after && operatorView(after),
  })

export async function regenerateOperator(deps: Deps, { id, actor }: Target) {
  const token = newCredential(deps.random, CREDENTIAL_PREFIX.management_token)
  return deps.db.transaction(async (tx) => {
    const { row: before } = await requireLocked(tx, id)
    const change = { token_digest: digestOf(token), token_last4: last4(token) }
    const after = { ...before, ...change }
    await updateOperatorRow(tx, id, change)
    await endSessionsOf(tx, id)
    await record(deps, tx, { id, actor, action: 'operator.regenerated', before, after })
    return { ...operatorView(after), token }
  })
}

/** Fields that stay as they are if they are left out. */
interface Fields {
  readonly name?: string | undefined
  readonly role?: Role | undefined
  readonly projects?: readonly string[] | null | undefined
}

function changed(before: OperatorRow, { name, role, projects }: Fields): OperatorRow {
  const after = { ...before, name: name ?? before.name, role: role ?? before.role }
  if (after.role === 'admin' && projects) throw adminHasAllProjects()
  // A promotion to admin lifts the limit to some projects.
  if (after.role === 'admin') return { ...after, projects: null }
  return projects === undefined ? after : { ...after, projects: projectsText(projects) }
}

/** Every request reads its operator from the store, so a new role counts from the next request, in every process. */
export async function updateOperator(deps: Deps, { id, actor, ...fields }: Target & Fields) {
  return deps.db.transaction(async (tx) => {
    const { row: before, isLastAdmin } = await requireLocked(tx, id)
    const after = changed(before, fields)
    if (isLastAdmin && after.role !== 'admin') throw lastAdmin(id)
    const { name, role, projects } = after
    if (name === before.name && role === before.role && projects === before.projects)
      return operatorView(before)
    await updateOperatorRow(tx, id, { name, role, projects })
    await record(deps, tx, { id, actor, action: 'operator.updated', before, after })
    return operatorView(after)
  })
}

export async function deleteOperator(deps: Deps, { id, actor }: Target): Promise<void> {
  await deps.db.transaction(async (tx) => {
    const { row: before, isLastAdmin } = await requireLocked(tx, id)
    if (isLastAdmin) throw lastAdmin(id)
    await deleteOperatorRow(tx, id)
    await endSessionsOf(tx, id)
    await record(deps, tx, { id, actor, action: 'operator.deleted', before, after: null })
  })
}
