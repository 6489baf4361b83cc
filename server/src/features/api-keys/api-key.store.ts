import { type ExpressionBuilder, sql } from 'kysely'
import {
  countUpTo,
  pageOf,
  projectTable,
  type Reader,
  type Transaction,
} from '../../platform/database/index.ts'
import type { Page, Rows } from '../../platform/http/index.ts'

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
  /** Where it was used from lately, as JSON: see `RecentAddress`. */
  recent_addresses: string
}

export interface ApiKeyTables {
  api_keys: ApiKeyRow
  key_state: { id: number; version: number }
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

/** The condition of an index, and so a literal. */
export const isNotDeleted = sql<boolean>`state <> 'deleted'`

/** A key that is not deleted. */
export const findApiKeyNamed = (
  reader: Reader,
  projectId: string,
  name: string,
): Promise<{ id: string } | undefined> =>
  reader
    .read<ApiKeyTables>()
    .selectFrom('api_keys')
    .select('id')
    .where('project_id', '=', projectId)
    .where('name', '=', name)
    .where(isNotDeleted)
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

export type KeyName = Pick<ApiKeyRow, 'project_id' | 'id'>

/** By primary key: the id alone would read every key of the store. */
export const isOneOf = (eb: ExpressionBuilder<ApiKeyTables, 'api_keys'>, keys: readonly KeyName[]) =>
  eb.or(keys.map(({ project_id, id }) => eb.and([eb('project_id', '=', project_id), eb('id', '=', id)])))

/** Ids and names of these keys. */
export const namesOfKeys = (reader: Reader, keys: readonly KeyName[]) =>
  reader
    .read<ApiKeyTables>()
    .selectFrom('api_keys')
    .select(['id', 'name'])
    .where((eb) => isOneOf(eb, keys))
    .execute()

export interface KeyFilter {
  readonly projectId: string
  readonly state?: KeyState | undefined
  readonly name?: string | undefined
  readonly app_id?: string | undefined
}

export async function listApiKeyRows(
  reader: Reader,
  filter: KeyFilter,
  page: Page,
): Promise<Rows<ApiKeyRow>> {
  let query = reader.read<ApiKeyTables>().selectFrom('api_keys').where('project_id', '=', filter.projectId)
  if (filter.state) query = query.where('state', '=', sql.lit(filter.state))
  if (filter.state !== 'deleted') query = query.where(isNotDeleted)
  if (filter.name !== undefined) query = query.where('name', '=', filter.name)
  if (filter.app_id !== undefined) query = query.where('app_id', '=', filter.app_id)
  return pageOf(reader, query, page)
}

/** Up to 10,000. */
export const countApiKeys = (reader: Reader): Promise<number> =>
  countUpTo(reader, reader.read<ApiKeyTables>().selectFrom('api_keys').where(isNotDeleted))

/** Leaves `recent_addresses` to its default: a new key has none. */
export async function insertApiKey(tx: Transaction, row: ApiKeyRow): Promise<void> {
  const { recent_addresses, ...columns } = row
  await tx
    .write<ApiKeyTables>()
    .insertInto('api_keys')
    .values(columns as ApiKeyRow)
    .execute()
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

/** The one row of `key_state`; there is none before the first change. */
const KEY_STATE_ID = 1

/** Counts a change of a key. Transactions wait for each other here, so versions are given in the order of commits. */
export async function raiseKeyStateVersion(tx: Transaction): Promise<number> {
  const { version } = await tx
    .write<ApiKeyTables>()
    .insertInto('key_state')
    .values({ id: KEY_STATE_ID, version: 1 })
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet({ version: sql<number>`key_state.version + 1` }),
    )
    .returning('version')
    .executeTakeFirstOrThrow()
  return version
}

/** Every change up to this version can be read by a query that starts now. */
export async function readKeyStateVersion(reader: Reader): Promise<number> {
  const row = await reader.read<ApiKeyTables>().selectFrom('key_state').select('version').executeTakeFirst()
  return row?.version ?? 0
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

export async function deleteKeysOfProject(tx: Transaction, projectId: string): Promise<void> {
  await tx.write<ApiKeyTables>().deleteFrom('api_keys').where('project_id', '=', projectId).execute()
}
