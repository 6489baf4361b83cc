import { countUpTo, type Reader, type Transaction } from '../../platform/database/index.ts'
import type { Page, Rows } from '../../platform/http/index.ts'

export interface CustomerRow {
  project_id: string
  id: string
  /** The caller's own id, unique in the project where there is one. */
  source_id: string | null
  name: string | null
  email: string | null
  phone: string | null
  description: string | null
  address: string | null
  metadata: string
  created_at: number
  updated_at: number | null
}

interface CustomerTables {
  customers: CustomerRow
}

/** By our id, else by the caller's own. */
export async function findCustomer(
  reader: Reader,
  projectId: string,
  idOrSourceId: string,
): Promise<CustomerRow | undefined> {
  const rows = await reader
    .read<CustomerTables>()
    .selectFrom('customers')
    .selectAll()
    .where('project_id', '=', projectId)
    .where((eb) => eb.or([eb('id', '=', idOrSourceId), eb('source_id', '=', idOrSourceId)]))
    .execute()
  return rows.find((row) => row.id === idOrSourceId) ?? rows[0]
}

export const lockCustomer = (
  tx: Transaction,
  projectId: string,
  id: string,
): Promise<CustomerRow | undefined> =>
  tx
    .lock(
      tx
        .write<CustomerTables>()
        .selectFrom('customers')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('id', '=', id),
    )
    .executeTakeFirst()

export async function listCustomerRows(
  reader: Reader,
  projectId: string,
  { page, email, name }: { page: Page; email?: string | undefined; name?: string | undefined },
): Promise<Rows<CustomerRow>> {
  let query = reader.read<CustomerTables>().selectFrom('customers').where('project_id', '=', projectId)
  if (email !== undefined) query = query.where('email', '=', email)
  if (name !== undefined) query = query.where('name', '=', name)
  const total = await countUpTo(reader, query)
  const rows = await query
    .selectAll()
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit + 1)
    .offset(page.offset)
    .execute()
  return { rows, total }
}

/** False where the source id is taken. */
export async function insertCustomer(tx: Transaction, row: CustomerRow): Promise<boolean> {
  const inserted = await tx
    .write<CustomerTables>()
    .insertInto('customers')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return inserted.numInsertedOrUpdatedRows === 1n
}

export async function updateCustomerRow(
  tx: Transaction,
  row: CustomerRow,
  change: Partial<CustomerRow>,
): Promise<void> {
  await tx
    .write<CustomerTables>()
    .updateTable('customers')
    .set(change)
    .where('project_id', '=', row.project_id)
    .where('id', '=', row.id)
    .execute()
}

export async function deleteCustomerRow(tx: Transaction, row: CustomerRow): Promise<void> {
  await tx
    .write<CustomerTables>()
    .deleteFrom('customers')
    .where('project_id', '=', row.project_id)
    .where('id', '=', row.id)
    .execute()
}

export async function deleteCustomersOfProject(tx: Transaction, projectId: string): Promise<void> {
  await tx.write<CustomerTables>().deleteFrom('customers').where('project_id', '=', projectId).execute()
}
