import { Problem } from '../../contract/problem.ts'
import type { Scope } from '../../contract/scopes.ts'
import { parseRange } from '../../platform/addresses.ts'
import { isoTime, isoTimeOrNull } from '../../platform/http/index.ts'
import { sameDigest } from '../../platform/secrets.ts'
import type { ApiKeyRow } from './api-key.store.ts'
import { MAX_RECENT_ADDRESSES, oldSecretUse, recentAddressesOf } from './recent-addresses.ts'

/** Figures of a key that change with every use. */
export interface KeyActivity {
  readonly activeTokens: number
  readonly usage: { readonly requests: number; readonly refused: number }
  readonly now: number
}

/** Public view of an API key, without the secret and its digest. */
export const apiKeyView = (row: ApiKeyRow, { activeTokens, usage, now }: KeyActivity) => ({
  id: row.id,
  object: 'api_key' as const,
  project_id: row.project_id,
  name: row.name,
  app_id: row.app_id,
  app_token_last4: row.secret_last4,
  client_id: row.client_id,
  permissions: permissionsOf(row),
  ip_whitelist: whitelistOf(row),
  token_limit: row.token_limit,
  state: row.state,
  active_tokens: activeTokens,
  created_at: isoTime(row.created_at),
  updated_at: isoTime(row.updated_at),
  regenerated_at: isoTimeOrNull(row.regenerated_at),
  last_used_at: isoTimeOrNull(row.last_used_at),
  last_used_from: recentAddressesOf(row)[0]?.address ?? null,
  recent_addresses: recentAddressesOf(row)
    .slice(0, MAX_RECENT_ADDRESSES)
    .map(({ address, at }) => ({ address, last_used_at: isoTime(at) })),
  usage_24h: usage,
  previous_secret: previousSecretView(row, now),
})

function previousSecretView(row: ApiKeyRow, now: number) {
  if (row.previous_until === null || row.previous_until <= now) return null
  const use = oldSecretUse(row)
  return {
    valid_until: isoTime(row.previous_until),
    last_used_at: isoTimeOrNull(use?.at ?? null),
    last_used_from: use?.address ?? null,
  }
}

/** Fields for the audit log, without those that change with every use. */
export function apiKeyFacts(row: ApiKeyRow) {
  const unused = { activeTokens: 0, usage: { requests: 0, refused: 0 }, now: Number.MAX_SAFE_INTEGER }
  const {
    active_tokens,
    last_used_at,
    last_used_from,
    recent_addresses,
    usage_24h,
    previous_secret,
    ...facts
  } = apiKeyView(row, unused)
  return facts
}

export const permissionsOf = (row: Pick<ApiKeyRow, 'permissions'>): Scope[] => JSON.parse(row.permissions)
export const whitelistOf = (row: Pick<ApiKeyRow, 'ip_whitelist'>): string[] => JSON.parse(row.ip_whitelist)

export const DEFAULT_PERMISSIONS: readonly Scope[] = ['api']

export function checkWhitelist(entries: readonly string[]): void {
  entries.forEach((entry, i) => {
    if (!parseRange(entry))
      throw new Problem('invalid_payload', {
        message: `${JSON.stringify(entry.slice(0, 60))} is not an address or range (entry ${i + 1} of ${entries.length}).`,
        details:
          'Use addresses such as 10.0.0.4 or 2001:db8::1, or ranges such as 10.0.0.0/8. An empty list allows all.',
      })
  })
}

/** Result of comparing a secret with a key. Each comparison takes constant time. */
export type SecretMatch = 'current' | 'in_grace' | 'replaced' | 'wrong'

export function matchSecret(row: ApiKeyRow, digest: Uint8Array, now: number): SecretMatch {
  if (sameDigest(digest, row.secret_digest)) return 'current'
  if (!row.previous_digest || !sameDigest(digest, row.previous_digest)) return 'wrong'
  return now < (row.previous_until ?? 0) ? 'in_grace' : 'replaced'
}
