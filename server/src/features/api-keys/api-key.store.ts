import { sql } from 'kysely'
import { pageOf, projectTable, type Reader, type Transaction } from '../../platform/database/index.ts'
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
  /** The one secret before this; it counts until `previous_until` and is then kept to explain refusals. */
  previous_digest: Uint8Array | null
  previous_until: number | null
  permissions: string
  ip_whitelist: string
  token_limit: number | null
  /** As in `projects`; meaningful only where the key has a limit of its own. */
  credits: number
  full_until: number | null
  state: KeyState
  /** Tokens carry the epoch they were issued under; raising it kills them all, and nothing lowers it. */
  epoch: number
  /** Raised by every change that a decision depends on; a lower one never replaces a higher one in a cache. */
  version: number
  changed_at: number
  created_at: number
  updated_at: number
  regenerated_at: number | null
  last_used_at: number | null
}

export interface ApiKeyTables {
  api_keys: ApiKeyRow
  key_state: { id: number; version: number }
}

/** Topic that is notified after every change of a key. */
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

/** Every key of a project, at its end. */
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
 * After a restore: whatever was issued before is dead, also in a cache that has seen more than the backup knows. So epoch
 * and version become the time, in milliseconds, which is more than any number of changes since can have made of them.
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
      // None, so that the next request counts.
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

const USES_AT_ONCE = 200

/**
 * Use is not a change: it raises no version. Two statements for many keys, since a transaction of one each would hold
 * the writer for as many turns of the event loop; and keys that are locked at this moment are left for the next time,
 * so that noting a use never waits for issuing, nor issuing for it. Returns the ids of those.
 */
export async function saveKeyUse(tx: Transaction, uses: readonly KeyUse[]): Promise<string[]> {
  const left = new Set(uses.map(({ id }) => id))
  for (let i = 0; i < uses.length; i += USES_AT_ONCE) {
    const some = new Map(uses.slice(i, i + USES_AT_ONCE).map((use) => [use.id, use]))
    const keys = tx
      .write<ApiKeyTables>()
      .selectFrom('api_keys')
      .select('id')
      .where('id', 'in', [...some.keys()])
    const free = (await tx.claim(keys).execute()).map((row) => row.id)
    for (const id of free) left.delete(id)
    if (free.length > 0)
      await noteUses(
        tx,
        free.map((id) => some.get(id)!),
      )
  }
  return [...left]
}

async function noteUses(tx: Transaction, uses: readonly KeyUse[]): Promise<void> {
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
  await tx.write<ApiKeyTables>().deleteFrom('api_keys').where('project_id', '=', projectId).execute()
}
