import type { Reader } from '../../platform/database/index.ts'
import { type ApiKeyRow, type ApiKeyTables, isNotDeleted } from './api-key.store.ts'
import { oldSecretUse, recentAddressesOf } from './recent-addresses.ts'

/** Keys that one rule reads. */
const MAX_KEYS = 1_000

interface Filter {
  readonly projectId?: string | undefined
  readonly limit: number
}

const activeKeys = (reader: Reader, projectId: string | undefined) =>
  reader
    .read<ApiKeyTables>()
    .selectFrom('api_keys')
    .selectAll()
    .$if(projectId !== undefined, (query) => query.where('project_id', '=', projectId!))
    .where('state', '=', 'active')
    .where(isNotDeleted)

/** Keys that the rule of unused keys reads: a store may have a million. */
const MAX_CHECKED = 10_000

/**
 * Active keys that were created and last used before a time. Only the 10,000 keys that were changed longest ago
 * are checked: an index by last use would have to be updated by requests.
 */
export const listUnusedKeys = (
  reader: Reader,
  { projectId, limit, before }: Filter & { readonly before: number },
): Promise<ApiKeyRow[]> =>
  reader
    .read<ApiKeyTables>()
    .selectFrom(
      activeKeys(reader, projectId)
        .orderBy(projectId === undefined ? 'changed_at' : 'created_at')
        .limit(MAX_CHECKED)
        .as('checked'),
    )
    .selectAll()
    .where('created_at', '<', before)
    .where((eb) => eb.or([eb('last_used_at', 'is', null), eb('last_used_at', '<', before)]))
    .orderBy('created_at')
    .limit(limit)
    .execute()

export interface OldSecretUse {
  readonly key: ApiKeyRow
  readonly address: string
  readonly at: number
}

/** Keys whose previous secret was used since it was replaced, while its grace period runs, with the newest use. */
export async function listOldSecretUses(
  reader: Reader,
  { projectId, limit, now }: Filter & { readonly now: number },
): Promise<OldSecretUse[]> {
  const keys = await activeKeys(reader, projectId).where('previous_until', '>', now).limit(MAX_KEYS).execute()
  const used = keys.flatMap((key) => {
    const use = oldSecretUse(key)
    return use ? [{ key, ...use }] : []
  })
  return used.slice(0, limit)
}

/** Addresses from which keys were used since a time. */
export async function listAddressesSince(reader: Reader, since: number): Promise<string[]> {
  const keys = await activeKeys(reader, undefined)
    .where('last_used_at', '>=', since)
    .limit(MAX_KEYS)
    .execute()
  const uses = keys.flatMap(recentAddressesOf).filter(({ at }) => at >= since)
  return [...new Set(uses.map(({ address }) => address))]
}
