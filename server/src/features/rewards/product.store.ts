import { projectTable, type Reader } from '../../platform/database/index.ts'
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

const products = projectTable<ProductRow>('products')

/** Finds a product by our id, then by the client's own. */
export const findProduct = products.findByIdOr('source_id')

export const findProductById = products.find

export const lockProduct = products.lock

export const listProductRows = (reader: Reader, projectId: string, page: Page): Promise<Rows<ProductRow>> =>
  products.list(reader, projectId, page)

/** Returns false if the source id is taken. */
export const insertProduct = products.insert

export const updateProductRow = products.update

export const deleteProductRow = products.delete
