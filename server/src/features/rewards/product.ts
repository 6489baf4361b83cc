import { isoTime, isoTimeOrNull } from '../../platform/http/index.ts'
import type { ProductRow } from './product.store.ts'

/** Short form of a product in events and redemptions. */
export const simpleProductView = ({ id, source_id, name }: ProductRow) => ({ id, source_id, name })

export const productView = (row: ProductRow) => ({
  ...simpleProductView(row),
  price: row.price,
  metadata: JSON.parse(row.metadata) as object,
  created_at: isoTime(row.created_at),
  updated_at: isoTimeOrNull(row.updated_at),
  object: 'product' as const,
})
