import { projectTable, type Reader, type Transaction } from '../../platform/database/index.ts'
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

const customers = projectTable<CustomerRow>('customers')

/** By our id, else by the caller's own. */
export const findCustomer = customers.findByIdOr('source_id')

export const findCustomerById = customers.find

export const lockCustomer = customers.lock

export const listCustomerRows = (
  reader: Reader,
  projectId: string,
  { page, email, name }: { page: Page; email?: string | undefined; name?: string | undefined },
): Promise<Rows<CustomerRow>> => customers.list(reader, projectId, page, { email, name })

/** False where the source id is taken. */
export const insertCustomer = customers.insert

export const updateCustomerRow = customers.update

export const deleteCustomerRow = customers.delete

export async function deleteCustomersOfProject(tx: Transaction, projectId: string): Promise<void> {
  await tx.write<CustomerTables>().deleteFrom('customers').where('project_id', '=', projectId).execute()
}
