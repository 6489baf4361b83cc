import type { Database, Transaction } from '../../platform/database/index.ts'
import { deleteCustomerRow } from './customer.store.ts'
import { requireLockedCustomer } from './save-customer.ts'

interface Deps {
  readonly db: Database
  /** Deactivates the customer's cards in the same transaction, so that no card is usable without a holder. */
  readonly releaseCards: (tx: Transaction, projectId: string, customerId: string) => Promise<void>
}

/** Deletes personal data immediately. Past events keep their content. */
export const deleteCustomer = (deps: Deps, projectId: string, id: string): Promise<void> =>
  deps.db.transaction(async (tx) => {
    const row = await requireLockedCustomer(tx, projectId, id)
    await deps.releaseCards(tx, projectId, row.id)
    await deleteCustomerRow(tx, row)
  })
