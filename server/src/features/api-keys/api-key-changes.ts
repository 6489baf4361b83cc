import { CREDENTIAL_PREFIX, withoutCredentials } from '../../contract/ids.ts'
import { digestOf, last4, newCredential } from '../../platform/secrets.ts'
import type { ApiKeyRow } from './api-key.store.ts'
import { checkWhitelist } from './api-key.ts'
import { type ChangeDeps, type ChangedKey, changeApiKey, type KeyRequest } from './change-api-key.ts'

/** Blocking kills every live token for good; unblocking lets the key issue new ones. */
export const blockApiKey = (
  deps: ChangeDeps,
  request: KeyRequest & { reason?: string | undefined },
): Promise<ChangedKey> =>
  changeApiKey(deps, request, {
    action: 'api_key.blocked',
    apply: (key) => (key.state === 'blocked' ? null : { state: 'blocked', epoch: key.epoch + 1 }),
    reason: request.reason && withoutCredentials(request.reason),
  })

export const unblockApiKey = (deps: ChangeDeps, request: KeyRequest): Promise<ChangedKey> =>
  changeApiKey(deps, request, {
    action: 'api_key.unblocked',
    apply: (key) => (key.state === 'active' ? null : { state: 'active' }),
  })

export const deleteApiKey = (deps: ChangeDeps, request: KeyRequest): Promise<ChangedKey> =>
  changeApiKey(deps, request, {
    action: 'api_key.deleted',
    apply: (key) => ({ state: 'deleted', epoch: key.epoch + 1 }),
  })

/** Kills all live tokens without blocking: after a leak, a new secret alone would leave stolen tokens alive. */
export const revokeTokensOfApiKey = (deps: ChangeDeps, request: KeyRequest): Promise<ChangedKey> =>
  changeApiKey(deps, request, {
    action: 'api_key.tokens_revoked',
    apply: (key) => ({ epoch: key.epoch + 1 }),
  })

/** A new secret; live tokens stay. The one secret before it counts for `graceSeconds` more, and an earlier one no longer. */
export async function regenerateApiKey(deps: ChangeDeps, request: KeyRequest & { graceSeconds: number }) {
  const appToken = newCredential(deps.random, CREDENTIAL_PREFIX.app_token)
  const { row } = await changeApiKey(deps, request, {
    action: 'api_key.regenerated',
    apply: (key, now) => ({
      secret_digest: digestOf(appToken),
      secret_last4: last4(appToken),
      previous_digest: key.secret_digest,
      // Null, and not now: a process whose time lies a little behind the store's would let it in until it has caught up.
      previous_until: request.graceSeconds > 0 ? now + request.graceSeconds * 1000 : null,
      regenerated_at: now,
    }),
  })
  return { row, appToken }
}

export interface KeyFields {
  readonly name?: string | undefined
  readonly permissions?: readonly string[] | undefined
  readonly ip_whitelist?: readonly string[] | undefined
  readonly token_limit?: number | null | undefined
}

export function updateApiKey(deps: ChangeDeps, request: KeyRequest, fields: KeyFields): Promise<ChangedKey> {
  if (fields.ip_whitelist) checkWhitelist(fields.ip_whitelist)
  return changeApiKey(deps, request, { action: 'api_key.updated', apply: (key) => differenceOf(key, fields) })
}

function differenceOf(key: ApiKeyRow, fields: KeyFields): Partial<ApiKeyRow> | null {
  const wanted: Partial<ApiKeyRow> = {}
  if (fields.name !== undefined) wanted.name = fields.name
  if (fields.permissions) wanted.permissions = JSON.stringify([...new Set(fields.permissions)])
  if (fields.ip_whitelist) wanted.ip_whitelist = JSON.stringify(fields.ip_whitelist)
  // With a new limit the credits are unknown: none, so that the next request counts.
  if (fields.token_limit !== undefined && fields.token_limit !== key.token_limit)
    Object.assign(wanted, { token_limit: fields.token_limit, credits: 0, full_until: null })
  const differs = Object.entries(wanted).some(([name, value]) => key[name as keyof ApiKeyRow] !== value)
  return differs ? wanted : null
}
