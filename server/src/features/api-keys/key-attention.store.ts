import type { Reader } from '../../platform/database/index.ts'
import type { ApiKeyRow, ApiKeyTables } from './api-key.store.ts'
import type { KeyAddressTables } from './key-address.store.ts'

interface Filter {
  readonly projectId?: string | undefined
  readonly limit: number
}

/** Active keys that were created and last used before a time. */
export const listUnusedKeys = (
  reader: Reader,
  { projectId, limit, before }: Filter & { readonly before: number },
): Promise<ApiKeyRow[]> =>
  reader
    .read<ApiKeyTables>()
    .selectFrom('api_keys')
    .selectAll()
    .$if(projectId !== undefined, (query) => query.where('project_id', '=', projectId!))
    .where('state', '=', 'active')
    .where('created_at', '<', before)
    .where((eb) => eb.or([eb('last_used_at', 'is', null), eb('last_used_at', '<', before)]))
    .orderBy('created_at')
    .limit(limit)
    .execute()

export interface OldSecretUse {
  project_id: string
  id: string
  name: string
  previous_until: number | null
  address: string
  last_used_at: number
}

/** Keys whose previous secret was used since it was replaced, while its grace period runs. The newest use first. */
export const listOldSecretUses = (
  reader: Reader,
  { projectId, limit, now }: Filter & { readonly now: number },
): Promise<OldSecretUse[]> =>
  reader
    .read<ApiKeyTables & KeyAddressTables>()
    .selectFrom('api_keys as k')
    .innerJoin('key_addresses as a', (join) =>
      join
        .onRef('a.project_id', '=', 'k.project_id')
        .onRef('a.key_id', '=', 'k.id')
        .onRef('a.last_used_at', '>=', 'k.regenerated_at'),
    )
    .select(['k.project_id', 'k.id', 'k.name', 'k.previous_until', 'a.address', 'a.last_used_at'])
    .$if(projectId !== undefined, (query) => query.where('k.project_id', '=', projectId!))
    .where('a.secret', '=', 'previous')
    .where('k.state', '=', 'active')
    .where('k.previous_until', '>', now)
    .orderBy('a.last_used_at', 'desc')
    .limit(limit)
    .execute()

/** Addresses from which any key was used since a time, at most two: enough to know whether there is only one. */
export const listAddressesSince = async (
  reader: Reader,
  since: number,
  projectId?: string,
): Promise<string[]> =>
  (
    await reader
      .read<KeyAddressTables>()
      .selectFrom('key_addresses')
      .select('address')
      .distinct()
      .$if(projectId !== undefined, (query) => query.where('project_id', '=', projectId!))
      .where('last_used_at', '>=', since)
      .limit(2)
      .execute()
  ).map(({ address }) => address)
