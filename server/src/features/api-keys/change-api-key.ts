import { notFound, Problem } from '../../contract/problem.ts'
import type { Database, Transaction } from '../../platform/database/index.ts'
import type { Actor } from '../../platform/http/index.ts'
import type { RandomBytes } from '../../platform/secrets.ts'
import { recordChange } from '../audit/index.ts'
import { requireLockedProject, updateProjectRow } from '../projects/index.ts'
import {
  type ApiKeyRow,
  lockApiKey,
  raiseKeyStateVersion,
  readKeyStateVersion,
  updateApiKeyRow,
} from './api-key.store.ts'
import { apiKeyFacts } from './api-key.ts'

export interface ChangeDeps {
  readonly db: Database
  readonly random: RandomBytes
  /** Called after the commit and before the response, so that the change applies immediately in this process. */
  readonly onChange: (key: ApiKeyRow) => void
}

export interface KeyRequest {
  readonly projectId: string
  readonly keyId: string
  readonly actor: Actor
}

interface KeyChange {
  /** Recorded in the audit log, for example `api_key.blocked`. */
  readonly action: string
  /** Returns the columns to change, or null to change nothing (for example when blocking a blocked key). */
  apply(key: ApiKeyRow, now: number): Partial<ApiKeyRow> | null
  /** Why, for the audit log. */
  readonly reason?: string | undefined
}

export interface ChangedKey {
  readonly row: ApiKeyRow
  /** A process that has read this version of the key state has read the change. */
  readonly keyStateVersion: number
}

/**
 * Changes a key in one transaction: locks the project, which delays issuing, and the key, raises the version, writes the
 * audit entry and notifies all processes.
 */
export async function changeApiKey(
  deps: ChangeDeps,
  request: KeyRequest,
  change: KeyChange,
): Promise<ChangedKey> {
  const changed = await deps.db.transaction((tx) => changeIn(deps, tx, request, change))
  deps.onChange(changed.row)
  return changed
}

async function changeIn(
  deps: ChangeDeps,
  tx: Transaction,
  request: KeyRequest,
  change: KeyChange,
): Promise<ChangedKey> {
  await requireLockedProject(tx, request.projectId)
  const before = await lockApiKey(tx, request.projectId, request.keyId)
  if (!before) throw notFound('api_key', request.keyId)
  if (before.state === 'deleted') throw deleted(before)
  const now = await tx.now()
  const difference = change.apply(before, now)
  if (difference === null) return { row: before, keyStateVersion: await readKeyStateVersion(tx) }
  const raised = { ...difference, version: before.version + 1, updated_at: now, changed_at: now }
  const after = { ...before, ...raised }
  await updateApiKeyRow(tx, before, raised)
  if (after.epoch !== before.epoch) await clearFullUntil(tx, after)
  await recordChange(deps, tx, {
    actor: request.actor,
    action: change.action,
    projectId: before.project_id,
    subject: { type: 'api_key', id: before.id },
    before: apiKeyFacts(before),
    after: { ...apiKeyFacts(after), ...(change.reason !== undefined && { reason: change.reason }) },
  })
  // Last: its row is shared by all projects and stays locked until the commit.
  return { row: after, keyStateVersion: await raiseKeyStateVersion(tx) }
}

/** Tokens have ended, so the stored time until which the project is full is no longer right. */
async function clearFullUntil(tx: Transaction, key: ApiKeyRow): Promise<void> {
  await updateApiKeyRow(tx, key, { full_until: null })
  await updateProjectRow(tx, key.project_id, { full_until: null })
}

const deleted = (key: ApiKeyRow): Problem =>
  new Problem('invalid_state', {
    message: 'This API key is deleted and cannot be restored.',
    details: 'Create a new key: see jeton key create --help',
    resource: { type: 'api_key', id: key.id },
  })
