import { sql } from 'kysely'
import { pageOf, projectTable, type Reader, type Transaction } from '../../platform/database/index.ts'
import type { Page, Rows } from '../../platform/http/index.ts'
import { deleteKeyAddressesOfProject } from './key-address.store.ts'

export type KeyState = 'active' | 'blocked' | 'deleted'

export interface ApiKeyRow {
  project_id: string
  id: string
  name: string
  app_id: string
  client_id: string
  secret_digest: Uint8Array
  secret_last4: string
  /** Digest of the previous secret, valid until `previous_until` and then kept to explain refusals. */
  previous_digest: Uint8Array | null
  previous_until: number | null
  permissions: string
  ip_whitelist: string
  token_limit: number | null
  /** See `projects`. Used only if the key has its own limit. */
  credits: number
  full_until: number | null
  state: KeyState
  /** A token carries the epoch it was issued under. Raising the epoch ends all tokens of the key; it is never lowered. */
  epoch: number
  /** Raised by every change that affects decisions. A cache never replaces a higher version by a lower one. */
  version: number
  changed_at: number
  created_at: number
  updated_at: number
  regenerated_at: number | null
  last_used_at: number | null
}

export interface ApiKeyTables {
  api_keys: ApiKeyRow
}

/** Topic of the notification after every change of a key. */
export const KEYS_CHANGED = 'keys'

const keys = projectTable<ApiKeyRow>('api_keys')

export const findApiKey = keys.find

export const lockApiKey = keys.lock

export const findApiKeyByAppId = (reader: Reader, appId: string): Promise<ApiKeyRow | undefined> =>
  reader
    .read<ApiKeyTables>()
    .selectFrom('api_keys')
    .selectAll()
    .where('app_id', '=', appId)
    .executeTakeFirst()

export const listVersionsChangedSince = (
  reader: Reader,
  since: number,
): Promise<Pick<ApiKeyRow, 'id' | 'version'>[]> =>
  reader
    .read<ApiKeyTables>()
    .selectFrom('api_keys')
    .select(['id', 'version'])
    .where('changed_at', '>=', since)
    .execute()

export const listKeysChangedSince = (reader: Reader, since: number): Promise<ApiKeyRow[]> =>
  reader.read<ApiKeyTables>().selectFrom('api_keys').selectAll().where('changed_at', '>=', since).execute()

export async function listApiKeyRows(
  reader: Reader,
  filter: { projectId: string; state?: KeyState | undefined; name?: string | undefined },
  page: Page,
): Promise<Rows<ApiKeyRow>> {
  let query = reader.read<ApiKeyTables>().selectFrom('api_keys').where('project_id', '=', filter.projectId)
  query = filter.state ? query.where('state', '=', filter.state) : query.where('state', '!=', 'deleted')
  if (filter.name !== undefined) query = query.where('name', '=', filter.name)
  return pageOf(reader, query, page)
}

export async function countApiKeys(reader: Reader): Promise<number> {
  const { total } = await reader
    .read<ApiKeyTables>()
    .selectFrom('api_keys')
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .where('state', '!=', 'deleted')
    .executeTakeFirstOrThrow()
  return total
}

export async function insertApiKey(tx: Transaction, row: ApiKeyRow): Promise<void> {
  await tx.write<ApiKeyTables>().insertInto('api_keys').values(row).execute()
  await tx.notify(KEYS_CHANGED)
}

export async function updateApiKeyRow(
  tx: Transaction,
  row: ApiKeyRow,
  change: Partial<ApiKeyRow>,
): Promise<void> {
  await keys.update(tx, row, change)
  await tx.notify(KEYS_CHANGED)
}

/** Marks all keys of a deleted project as deleted. */
export async function markKeysDeleted(tx: Transaction, projectId: string): Promise<void> {
  const now = await tx.now()
  await tx
    .write<ApiKeyTables>()
    .updateTable('api_keys')
    .set({
      state: 'deleted',
      epoch: sql<number>`epoch + 1`,
      version: sql<number>`version + 1`,
      changed_at: now,
      updated_at: now,
    })
    .where('project_id', '=', projectId)
    .where('state', '!=', 'deleted')
    .execute()
  await tx.notify(KEYS_CHANGED)
}

/**
 * Ends all tokens after a restore, also in caches that have seen newer versions than the backup. Epoch and version become
 * the current time in milliseconds, which is larger than any number of changes.
 */
export async function invalidateAllTokens(tx: Transaction): Promise<void> {
  const now = await tx.now()
  const beyond = (column: 'epoch' | 'version') =>
    sql<number>`case when ${sql.ref(column)} < ${now} then cast(${now} as bigint) else ${sql.ref(column)} + 1 end`
  await tx
    .write<ApiKeyTables>()
    .updateTable('api_keys')
    .set({
      epoch: beyond('epoch'),
      version: beyond('version'),
      changed_at: now,
      // Zero makes the next request count the active tokens.
      credits: 0,
      full_until: null,
    })
    .execute()
  await tx.notify(KEYS_CHANGED)
}

export interface KeyUse {
  readonly projectId: string
  readonly id: string
  readonly at: number
}

const USES_PER_STATEMENT = 200

/**
 * Saves the times of last use in batches, without raising versions. One transaction per key would occupy the writer for
 * too long. Skips keys that are locked now, so that neither this nor issuing waits for the other, and returns their ids.
 */
export async function saveKeyUse(tx: Transaction, uses: readonly KeyUse[]): Promise<string[]> {
  const left = new Set(uses.map(({ id }) => id))
  for (let i = 0; i < uses.length; i += USES_PER_STATEMENT) {
    const some = new Map(uses.slice(i, i + USES_PER_STATEMENT).map((use) => [use.id, use]))
    const keys = tx
      .write<ApiKeyTables>()
      .selectFrom('api_keys')
      .select('id')
      .where('id', 'in', [...some.keys()])
    const free = (await tx.claim(keys).execute()).map((row) => row.id)
    for (const id of free) left.delete(id)
    if (free.length > 0)
      await updateLastUsed(
        tx,
        free.map((id) => some.get(id)!),
      )
  }
  return [...left]
}

async function updateLastUsed(tx: Transaction, uses: readonly KeyUse[]): Promise<void> {
  const cases = sql.join(
    uses.map(({ id, at }) => sql`when ${id} then cast(${at} as bigint)`),
    sql` `,
  )
  await tx
    .write<ApiKeyTables>()
    .updateTable('api_keys')
    .set({ last_used_at: sql<number>`case id ${cases} end` })
    .where(
      'id',
      'in',
      uses.map(({ id }) => id),
    )
    .execute()
}

export async function deleteKeysOfProject(tx: Transaction, projectId: string): Promise<void> {
  await deleteKeyAddressesOfProject(tx, projectId)
  await tx.write<ApiKeyTables>().deleteFrom('api_keys').where('project_id', '=', projectId).execute()
}
