import type { Reader } from '../../platform/database/index.ts'
import type { Holding } from '../customers/index.ts'
import { listCardsOf } from './voucher.store.ts'

/** Loyalty points of customers, per campaign. */
export async function holdingsOf(
  reader: Reader,
  projectId: string,
  customerIds: readonly string[],
): Promise<Holding[]> {
  const cards = await listCardsOf(reader, projectId, customerIds)
  return cards.map((card) => ({ ...card, customerId: card.customerId! }))
}
