import { ID_PREFIX } from '../../contract/ids.ts'
import { notFound, Problem } from '../../contract/problem.ts'
import { type Reader, type Transaction, UniqueConflict } from '../../platform/database/index.ts'
import { given, type Metadata, metadataText } from '../../platform/http/index.ts'
import { newId, type RandomBytes } from '../../platform/secrets.ts'
import {
  deleteProductRow,
  findProduct,
  insertProduct,
  lockProduct,
  type ProductRow,
  updateProductRow,
} from './product.store.ts'
import { countRewardsFor } from './reward.store.ts'

export interface ProductFields {
  readonly source_id?: string | null | undefined
  readonly name?: string | null | undefined
  readonly price?: number | null | undefined
  readonly metadata?: Metadata | null | undefined
}

interface ProductName {
  readonly projectId: string
  readonly id: string
}

export async function requireProduct(reader: Reader, { projectId, id }: ProductName): Promise<ProductRow> {
  const row = await findProduct(reader, projectId, id)
  if (!row) throw notFound('product', id)
  return row
}

/** Locks the product until the end of the transaction, so that it cannot be deleted meanwhile. */
export async function requireLockedProduct(tx: Transaction, name: ProductName): Promise<ProductRow> {
  const { id } = await requireProduct(tx, name)
  const row = await lockProduct(tx, name.projectId, id)
  if (!row) throw notFound('product', name.id)
  return row
}

function columnsOf(fields: ProductFields): Partial<ProductRow> {
  const columns: Partial<ProductRow> = given(fields, ['source_id', 'name', 'price'])
  if (fields.metadata !== undefined) columns.metadata = metadataText(fields.metadata)
  return columns
}

/** Creates a product, or updates the one with this source_id. */
export async function saveProduct(
  { random }: { random: RandomBytes },
  tx: Transaction,
  { projectId, fields }: { projectId: string; fields: ProductFields },
): Promise<ProductRow> {
  const row: ProductRow = {
    project_id: projectId,
    id: newId(random, ID_PREFIX.product),
    source_id: null,
    name: null,
    price: null,
    metadata: '{}',
    created_at: await tx.now(),
    updated_at: null,
    ...columnsOf(fields),
  }
  if (await insertProduct(tx, row)) return row
  return changeProduct(tx, { projectId, id: row.source_id! }, fields)
}

export async function changeProduct(
  tx: Transaction,
  name: ProductName,
  fields: ProductFields,
): Promise<ProductRow> {
  const before = await requireLockedProduct(tx, name)
  const change = { ...columnsOf(fields), updated_at: await tx.now() }
  try {
    await updateProductRow(tx, before, change)
  } catch (error) {
    throw error instanceof UniqueConflict ? sourceIdTaken(fields.source_id ?? '') : error
  }
  return { ...before, ...change }
}

export async function deleteProduct(tx: Transaction, name: ProductName): Promise<void> {
  const row = await requireLockedProduct(tx, name)
  const rewards = await countRewardsFor(tx, row.project_id, row.id)
  if (rewards > 0)
    throw new Problem('resource_in_use', {
      message: `${rewards === 1 ? 'A reward uses' : `${rewards} rewards use`} this product.`,
      details: 'Delete the rewards first. Nothing was deleted.',
      resource: { type: 'product', id: row.id },
    })
  await deleteProductRow(tx, row)
}

const sourceIdTaken = (sourceId: string): Problem =>
  new Problem('duplicate_found', {
    message: `Another product has the source_id ${JSON.stringify(sourceId)}.`,
    details: 'Choose another source_id. Nothing was changed.',
    resource: { type: 'product', id: sourceId },
  })
