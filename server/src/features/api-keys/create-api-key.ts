import { randomUUID } from 'node:crypto'
import { CREDENTIAL_PREFIX, ID_PREFIX } from '../../contract/ids.ts'
import { Problem } from '../../contract/problem.ts'
import type { Database, Transaction } from '../../platform/database/index.ts'
import type { Actor } from '../../platform/http/index.ts'
import { digestOf, last4, newCredential, newId, type RandomBytes } from '../../platform/secrets.ts'
import { recordChange } from '../audit/index.ts'
import { requireLockedProject } from '../projects/index.ts'
import { type ApiKeyRow, findApiKeyNamed, insertApiKey } from './api-key.store.ts'
import { apiKeyFacts, checkWhitelist, DEFAULT_PERMISSIONS } from './api-key.ts'

export interface NewApiKey {
  readonly projectId: string
  readonly name: string
  readonly permissions?: readonly string[] | undefined
  readonly ip_whitelist?: readonly string[] | undefined
  readonly token_limit?: number | null | undefined
  /** Refuses a name that another key of the project has. */
  readonly uniqueName?: boolean | undefined
  readonly actor: Actor
}

interface Created {
  readonly row: ApiKeyRow
  /** Shown only once. */
  readonly appToken: string
}

const nameTaken = (name: string): Problem =>
  new Problem('duplicate_found', {
    message: `The project already has an API key named ${JSON.stringify(name)}.`,
    details: 'Choose another name, or replace its secret: see jeton key regenerate --help',
  })

export const createApiKey = (
  deps: { db: Database; random: RandomBytes },
  request: NewApiKey,
): Promise<Created> => deps.db.transaction((tx) => createApiKeyIn(deps, tx, request))

export async function createApiKeyIn(
  deps: { random: RandomBytes },
  tx: Transaction,
  request: NewApiKey,
): Promise<Created> {
  const permissions = [...new Set(request.permissions ?? DEFAULT_PERMISSIONS)]
  const whitelist = request.ip_whitelist ?? []
  checkWhitelist(whitelist)
  await requireLockedProject(tx, request.projectId)
  if (request.uniqueName && (await findApiKeyNamed(tx, request.projectId, request.name)))
    throw nameTaken(request.name)
  const appToken = newCredential(deps.random, CREDENTIAL_PREFIX.app_token)
  const now = await tx.now()
  const row: ApiKeyRow = {
    project_id: request.projectId,
    id: newId(deps.random, ID_PREFIX.api_key),
    name: request.name,
    app_id: randomUUID(),
    client_id: newId(deps.random, ID_PREFIX.client),
    secret_digest: digestOf(appToken),
    secret_last4: last4(appToken),
    previous_digest: null,
    previous_until: null,
    permissions: JSON.stringify(permissions),
    ip_whitelist: JSON.stringify(whitelist),
    token_limit: request.token_limit ?? null,
    credits: request.token_limit ?? 0,
    full_until: null,
    state: 'active',
    epoch: 1,
    version: 1,
    changed_at: now,
    created_at: now,
    updated_at: now,
    regenerated_at: null,
    last_used_at: null,
    recent_addresses: '[]',
  }
  await insertApiKey(tx, row)
  await recordChange(deps, tx, {
    actor: request.actor,
    action: 'api_key.created',
    projectId: row.project_id,
    subject: { type: 'api_key', id: row.id },
    before: null,
    after: apiKeyFacts(row),
  })
  return { row, appToken }
}
