import { sql } from 'kysely'
import type { Transaction } from '../../platform/database/index.ts'
import { type ApiKeyRow, type ApiKeyTables, isOneOf, type KeyName } from './api-key.store.ts'
import { type RecentAddress, recentAddressesOf, withAddresses } from './recent-addresses.ts'

/** A use of a key, by an address where it is known. */
export interface KeyUse {
  readonly projectId: string
  readonly id: string
  readonly at: number
  readonly address: string | null
  /** Whether it proved the secret before the current one. */
  readonly withOldSecret: boolean
}

const KEYS_PER_BATCH = 200

/**
 * Saves times and addresses of last use in batches, without raising versions. One transaction per key would occupy the
 * writer for too long. Skips keys that are locked now, so that neither this nor issuing waits for the other, and returns
 * their ids.
 */
export async function saveKeyUse(tx: Transaction, uses: readonly KeyUse[]): Promise<string[]> {
  const byKey = Map.groupBy(uses, ({ id }) => id)
  const left = new Set(byKey.keys())
  const names = [...byKey].map(([id, [use]]) => ({ project_id: use!.projectId, id }))
  for (let i = 0; i < names.length; i += KEYS_PER_BATCH) {
    const keys = tx
      .write<ApiKeyTables>()
      .selectFrom('api_keys')
      .select(['project_id', 'id', 'recent_addresses'])
      .where((eb) => isOneOf(eb, names.slice(i, i + KEYS_PER_BATCH)))
    const free = await tx.claim(keys).execute()
    for (const { id } of free) left.delete(id)
    if (free.length > 0)
      await updateLastUsed(
        tx,
        free.map((row) => usedRow(row, byKey.get(row.id)!)),
      )
  }
  return [...left]
}

type UsedRow = KeyName & Pick<ApiKeyRow, 'recent_addresses'> & { readonly at: number }

function usedRow(row: KeyName & Pick<ApiKeyRow, 'recent_addresses'>, uses: readonly KeyUse[]): UsedRow {
  const seen = uses.flatMap(({ address, at, withOldSecret }): RecentAddress[] =>
    address === null ? [] : [{ address, at, ...(withOldSecret && { oldSecretAt: at }) }],
  )
  const recent = withAddresses(recentAddressesOf(row), seen)
  const at = Math.max(...uses.map((use) => use.at))
  return { project_id: row.project_id, id: row.id, at, recent_addresses: JSON.stringify(recent) }
}

async function updateLastUsed(tx: Transaction, rows: readonly UsedRow[]): Promise<void> {
  const cases = (value: (row: UsedRow) => unknown) =>
    sql.join(
      rows.map((row) => sql`when ${row.id} then ${value(row)}`),
      sql` `,
    )
  await tx
    .write<ApiKeyTables>()
    .updateTable('api_keys')
    .set({
      last_used_at: sql<number>`case id ${cases(({ at }) => sql`cast(${at} as bigint)`)} end`,
      recent_addresses: sql<string>`case id ${cases((row) => sql`cast(${row.recent_addresses} as text)`)} end`,
    })
    .where((eb) => isOneOf(eb, rows))
    .execute()
}
