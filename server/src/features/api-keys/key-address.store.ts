import type { Reader, Transaction } from '../../platform/database/index.ts'

/** Addresses kept per key. */
export const MAX_ADDRESSES = 16

export interface KeyAddressRow {
  project_id: string
  key_id: string
  address: string
  /** `previous` where the call proved the secret before the current one. */
  secret: 'current' | 'previous'
  last_used_at: number
}

export interface KeyAddressTables {
  key_addresses: KeyAddressRow
}

/** Records where keys were used from, and forgets all but the newest addresses of each key. */
export async function saveKeyAddresses(tx: Transaction, rows: readonly KeyAddressRow[]): Promise<void> {
  const inOrder = [...rows].sort((a, b) => compare(nameOf(a), nameOf(b)))
  await tx
    .write<KeyAddressTables>()
    .insertInto('key_addresses')
    .values(inOrder)
    .onConflict((conflict) =>
      conflict
        .columns(['project_id', 'key_id', 'secret', 'address'])
        .doUpdateSet((eb) => ({ last_used_at: eb.ref('excluded.last_used_at') })),
    )
    .execute()
  for (const [keyId, [first]] of Map.groupBy(rows, ({ key_id }) => key_id))
    await deleteAllButNewest(tx, first!.project_id, keyId)
}

const nameOf = ({ project_id, key_id, secret, address }: KeyAddressRow): string =>
  `${project_id} ${key_id} ${secret} ${address}`
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

async function deleteAllButNewest(tx: Transaction, projectId: string, keyId: string): Promise<void> {
  const rows = await listKeyAddresses(tx, projectId, [keyId])
  for (const { secret, address } of rows.slice(MAX_ADDRESSES))
    await tx
      .write<KeyAddressTables>()
      .deleteFrom('key_addresses')
      .where('project_id', '=', projectId)
      .where('key_id', '=', keyId)
      .where('secret', '=', secret)
      .where('address', '=', address)
      .execute()
}

/** The newest first. */
export const listKeyAddresses = (
  reader: Reader,
  projectId: string,
  keyIds: readonly string[],
): Promise<KeyAddressRow[]> =>
  reader
    .read<KeyAddressTables>()
    .selectFrom('key_addresses')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('key_id', 'in', keyIds)
    .orderBy('last_used_at', 'desc')
    .orderBy('address')
    .execute()

export async function deleteKeyAddressesOfProject(tx: Transaction, projectId: string): Promise<void> {
  await tx.write<KeyAddressTables>().deleteFrom('key_addresses').where('project_id', '=', projectId).execute()
}
