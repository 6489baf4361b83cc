import { CREDENTIAL_PREFIX, withoutCredentials } from '../../contract/ids.ts'
import { digestOf, last4, newCredential } from '../../platform/secrets.ts'
import type { ApiKeyRow } from './api-key.store.ts'
import { checkWhitelist } from './api-key.ts'
import { type ChangeDeps, type ChangedKey, changeApiKey, type KeyRequest } from './change-api-key.ts'

/** Blocking ends all active tokens permanently. Unblocking allows the key to issue new ones. */
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

/** Revokes all active tokens without blocking the key: after a leak, a new secret alone would leave stolen tokens active. */
export const revokeTokensOfApiKey = (deps: ChangeDeps, request: KeyRequest): Promise<ChangedKey> =>
  changeApiKey(deps, request, {
    action: 'api_key.tokens_revoked',
    apply: (key) => ({ epoch: key.epoch + 1 }),
  })

/** Replaces the secret and keeps active tokens. The previous secret works for `graceSeconds`; an older one stops now. */
export async function regenerateApiKey(deps: ChangeDeps, request: KeyRequest & { graceSeconds: number }) {
  const appToken = newCredential(deps.random, CREDENTIAL_PREFIX.app_token)
  const { row } = await changeApiKey(deps, request, {
    action: 'api_key.regenerated',
    apply: (key, now) => ({
      secret_digest: digestOf(appToken),
      secret_last4: last4(appToken),
      previous_digest: key.secret_digest,
      // Null instead of now: a process whose clock is slightly behind would still accept the old secret.
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
  // The credits for a new limit are unknown. Zero makes the next request count the active tokens.
  if (fields.token_limit !== undefined && fields.token_limit !== key.token_limit)
    Object.assign(wanted, { token_limit: fields.token_limit, credits: 0, full_until: null })
  const differs = Object.entries(wanted).some(([name, value]) => key[name as keyof ApiKeyRow] !== value)
  return differs ? wanted : null
}
