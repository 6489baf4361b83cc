import type { Database, Transaction } from '../../platform/database/index.ts'
import { deleteCustomerRow } from './customer.store.ts'
import { requireLockedCustomer } from './save-customer.ts'

interface Deps {
  readonly db: Database
  /** Tells whoever keeps the customer's cards, in the same transaction: no card may be used without its holder. */
  readonly releaseCards: (tx: Transaction, projectId: string, customerId: string) => Promise<void>
}

/** Personal data is gone at once. Past events keep what they told. */
export const deleteCustomer = (deps: Deps, projectId: string, id: string): Promise<void> =>
  deps.db.transaction(async (tx) => {
    const row = await requireLockedCustomer(tx, projectId, id)
    await deps.releaseCards(tx, projectId, row.id)
    await deleteCustomerRow(tx, row)
  })
