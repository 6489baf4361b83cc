import { sql } from 'kysely'
import type { Role } from '../../contract/roles.ts'
import type { Reader, Transaction } from '../../platform/database/index.ts'
import type { Page, Rows } from '../../platform/http/index.ts'

export interface OperatorRow {
  id: string
  name: string
  token_digest: Uint8Array
  token_last4: string
  created_at: number
  last_used_at: number | null
  role: Role
  /** Ids as JSON; null for all projects. */
  projects: string | null
}

interface OperatorTables {
  operators: OperatorRow
}

export const findOperator = (reader: Reader, id: string): Promise<OperatorRow | undefined> =>
  reader.read<OperatorTables>().selectFrom('operators').selectAll().where('id', '=', id).executeTakeFirst()

export async function countOperators(reader: Reader): Promise<number> {
  const { total } = await reader
    .read<OperatorTables>()
    .selectFrom('operators')
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  return total
}

export async function listOperatorNames(reader: Reader): Promise<string[]> {
  const rows = await reader.read<OperatorTables>().selectFrom('operators').select('name').execute()
  return rows.map((row) => row.name)
}

/** Ids and names of the operators with these ids. */
export const namesOfOperators = (reader: Reader, ids: readonly string[]) =>
  reader
    .read<OperatorTables>()
    .selectFrom('operators')
    .select(['id', 'name'])
    .where('id', 'in', ids)
    .execute()

export async function listOperatorRows(reader: Reader, page: Page): Promise<Rows<OperatorRow>> {
  const rows = await reader
    .read<OperatorTables>()
    .selectFrom('operators')
    .selectAll()
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit + 1)
    .offset(page.offset)
    .execute()
  return { rows, total: await countOperators(reader) }
}

export const lockOperator = (tx: Transaction, id: string): Promise<OperatorRow | undefined> =>
  tx
    .lock(tx.read<OperatorTables>().selectFrom('operators').selectAll().where('id', '=', id) as never)
    .executeTakeFirst() as Promise<OperatorRow | undefined>

/** Locks every operator, so that of two admins who remove each other at once the second fails. */
export const lockOperators = (tx: Transaction): Promise<OperatorRow[]> =>
  tx
    .lock(tx.read<OperatorTables>().selectFrom('operators').selectAll().orderBy('id') as never)
    .execute() as Promise<OperatorRow[]>

export async function insertOperator(tx: Transaction, row: OperatorRow): Promise<void> {
  await tx.write<OperatorTables>().insertInto('operators').values(row).execute()
}

export async function updateOperatorRow(
  tx: Transaction,
  id: string,
  change: Partial<Omit<OperatorRow, 'id'>>,
): Promise<void> {
  await tx.write<OperatorTables>().updateTable('operators').set(change).where('id', '=', id).execute()
}

export async function deleteOperatorRow(tx: Transaction, id: string): Promise<void> {
  await tx.write<OperatorTables>().deleteFrom('operators').where('id', '=', id).execute()
}

export async function saveOperatorUse(tx: Transaction, uses: ReadonlyMap<string, number>): Promise<void> {
  for (const [id, at] of uses)
    await tx
      .write<OperatorTables>()
      .updateTable('operators')
      .set({ last_used_at: at })
      .where('id', '=', id)
      .where(sql<number>`coalesce(last_used_at, 0)`, '<', at)
      .execute()
}
