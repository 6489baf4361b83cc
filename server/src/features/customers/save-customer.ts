import { ID_PREFIX } from '../../contract/ids.ts'
import { notFound, Problem } from '../../contract/problem.ts'
import { type Reader, type Transaction, UniqueConflict } from '../../platform/database/index.ts'
import { newId, type RandomBytes } from '../../platform/secrets.ts'
import {
  type CustomerRow,
  findCustomer,
  insertCustomer,
  lockCustomer,
  updateCustomerRow,
} from './customer.store.ts'
import { type CustomerFields, customerColumns } from './customer.ts'

interface Deps {
  readonly random: RandomBytes
}

export async function requireCustomer(
  reader: Reader,
  projectId: string,
  idOrSourceId: string,
): Promise<CustomerRow> {
  const row = await findCustomer(reader, projectId, idOrSourceId)
  if (!row) throw notFound('customer', idOrSourceId)
  return row
}

/** Locks the customer until the end of the transaction, so that it cannot be deleted meanwhile. */
export async function requireLockedCustomer(
  tx: Transaction,
  projectId: string,
  idOrSourceId: string,
): Promise<CustomerRow> {
  const { id } = await requireCustomer(tx, projectId, idOrSourceId)
  const row = await lockCustomer(tx, projectId, id)
  if (!row) throw notFound('customer', idOrSourceId)
  return row
}

/** Creates a customer, or updates the one that `id` or `source_id` names. */
export async function saveCustomer(
  deps: Deps,
  tx: Transaction,
  { projectId, id, fields }: { projectId: string; id?: string | undefined; fields: CustomerFields },
): Promise<CustomerRow> {
  if (id !== undefined) return changeCustomer(tx, { projectId, id, fields })
  const row = await newCustomer(deps, tx, projectId, fields)
  if (await insertCustomer(tx, row)) return row
  return changeCustomer(tx, { projectId, id: row.source_id!, fields })
}

async function newCustomer(deps: Deps, tx: Transaction, projectId: string, fields: CustomerFields) {
  const row: CustomerRow = {
    project_id: projectId,
    id: newId(deps.random, ID_PREFIX.customer),
    source_id: null,
    name: null,
    email: null,
    phone: null,
    description: null,
    address: null,
    metadata: '{}',
    created_at: await tx.now(),
    updated_at: null,
  }
  return { ...row, ...customerColumns(fields) }
}

/** Replaces the fields that are sent. */
export async function changeCustomer(
  tx: Transaction,
  { projectId, id, fields }: { projectId: string; id: string; fields: CustomerFields },
): Promise<CustomerRow> {
  const before = await requireLockedCustomer(tx, projectId, id)
  const change = { ...customerColumns(fields), updated_at: await tx.now() }
  try {
    await updateCustomerRow(tx, before, change)
  } catch (error) {
    throw error instanceof UniqueConflict ? sourceIdTaken(fields.source_id ?? '') : error
  }
  return { ...before, ...change }
}

const sourceIdTaken = (sourceId: string): Problem =>
  new Problem('duplicate_found', {
    message: `Another customer has the source_id ${JSON.stringify(sourceId)}.`,
    details: 'Choose another source_id. Nothing was changed.',
    resource: { type: 'customer', id: sourceId },
  })
