import { countUpTo, type Reader, type Transaction } from '../../platform/database/index.ts'
import type { Page, Rows } from '../../platform/http/index.ts'

export interface ProductRow {
  project_id: string
  id: string
  source_id: string | null
  name: string | null
  /** In the smallest unit of the currency. */
  price: number | null
  metadata: string
  created_at: number
  updated_at: number | null
}

interface ProductTables {
  products: ProductRow
}

/** By our id, else by the caller's own. */
export async function findProduct(
  reader: Reader,
  projectId: string,
  idOrSourceId: string,
): Promise<ProductRow | undefined> {
  const rows = await reader
    .read<ProductTables>()
    .selectFrom('products')
    .selectAll()
    .where('project_id', '=', projectId)
    .where((eb) => eb.or([eb('id', '=', idOrSourceId), eb('source_id', '=', idOrSourceId)]))
    .execute()
  return rows.find((row) => row.id === idOrSourceId) ?? rows[0]
}

export const lockProduct = (
  tx: Transaction,
  projectId: string,
  id: string,
): Promise<ProductRow | undefined> =>
  tx
    .lock(
      tx
        .write<ProductTables>()
        .selectFrom('products')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('id', '=', id),
    )
    .executeTakeFirst()

export async function listProductRows(
  reader: Reader,
  projectId: string,
  page: Page,
): Promise<Rows<ProductRow>> {
  const query = reader.read<ProductTables>().selectFrom('products').where('project_id', '=', projectId)
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
export async function insertProduct(tx: Transaction, row: ProductRow): Promise<boolean> {
  const inserted = await tx
    .write<ProductTables>()
    .insertInto('products')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return inserted.numInsertedOrUpdatedRows === 1n
}

export async function updateProductRow(
  tx: Transaction,
  row: ProductRow,
  change: Partial<ProductRow>,
): Promise<void> {
  await tx
    .write<ProductTables>()
    .updateTable('products')
    .set(change)
    .where('project_id', '=', row.project_id)
    .where('id', '=', row.id)
    .execute()
}

export async function deleteProductRow(tx: Transaction, row: ProductRow): Promise<void> {
  await tx
    .write<ProductTables>()
    .deleteFrom('products')
    .where('project_id', '=', row.project_id)
    .where('id', '=', row.id)
    .execute()
}
