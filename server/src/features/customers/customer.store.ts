import { cursorPageOf, projectTable, type Reader, type Transaction } from '../../platform/database/index.ts'
import type { Page, Rows } from '../../platform/http/index.ts'

export interface CustomerRow {
  project_id: string
  id: string
  /** The client's own id, unique in the project if present. */
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

/** Finds a customer by our id, then by the client's own. */
export const findCustomer = customers.findByIdOr('source_id')

export const findCustomerById = customers.find

export const lockCustomer = customers.lock

export const listCustomerRows = (
  reader: Reader,
  projectId: string,
  { page, email, name }: { page: Page; email?: string | undefined; name?: string | undefined },
): Promise<Rows<CustomerRow>> => customers.list(reader, projectId, page, { email, name })

export interface CustomerFilter {
  readonly id?: string | undefined
  readonly source_id?: string | undefined
  readonly email?: string | undefined
  readonly name?: string | undefined
}

/** Newest first, by cursor, with the given values in these columns. */
export function listCustomersByCursor(
  reader: Reader,
  { projectId, ...filter }: CustomerFilter & { readonly projectId: string },
  page: Page,
): Promise<Rows<CustomerRow>> {
  let query = reader.read<CustomerTables>().selectFrom('customers').where('project_id', '=', projectId)
  for (const column of ['id', 'source_id', 'email', 'name'] as const)
    if (filter[column] !== undefined) query = query.where(column, '=', filter[column])
  return cursorPageOf(reader, query, page)
}

/** Returns false if the source id is taken. */
export const insertCustomer = customers.insert

export const updateCustomerRow = customers.update

export const deleteCustomerRow = customers.delete

export async function deleteCustomersOfProject(tx: Transaction, projectId: string): Promise<void> {
  await tx.write<CustomerTables>().deleteFrom('customers').where('project_id', '=', projectId).execute()
}
