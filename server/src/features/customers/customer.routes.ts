import { Type } from 'typebox'
import type { Database, Reader, Transaction } from '../../platform/database/index.ts'
import {
  type App,
  filterField,
  IdParam,
  Nothing,
  NullableText,
  namedList,
  namedListOf,
  PageQuery,
  pageOf,
  shownAs,
} from '../../platform/http/index.ts'
import type { RandomBytes } from '../../platform/secrets.ts'
import { type CustomerRow, listCustomerRows } from './customer.store.ts'
import { customerFields, customerView, type Holding } from './customer.ts'
import { deleteCustomer } from './delete-customer.ts'
import { changeCustomer, requireCustomer, saveCustomer } from './save-customer.ts'

interface Deps {
  readonly db: Database
  readonly random: RandomBytes
  readonly holdingsOf: (
    reader: Reader,
    projectId: string,
    customerIds: readonly string[],
  ) => Promise<readonly Holding[]>
  readonly releaseCards: (tx: Transaction, projectId: string, customerId: string) => Promise<void>
}

export const Customer = Type.Object({
  id: Type.String(),
  source_id: NullableText,
  name: NullableText,
  description: NullableText,
  email: NullableText,
  phone: NullableText,
  address: Type.Any(),
  metadata: Type.Any(),
  summary: Type.Any({ description: 'Numbers of redemptions.' }),
  loyalty: Type.Any({ description: 'Points of the customer, in total and per campaign.' }),
  referrals: Type.Any(),
  created_at: Type.String(),
  updated_at: NullableText,
  object: Type.Literal('customer'),
})
const Params = Type.Object({ customerId: IdParam })

export function customerRoutes(app: App, deps: Deps): void {
  const config = { access: 'scope' } as const
  const tags = ['customers']

  async function withHoldings(rows: readonly CustomerRow[]) {
    const ids = rows.map((row) => row.id)
    const all = ids.length === 0 ? [] : await deps.holdingsOf(deps.db, rows[0]!.project_id, ids)
    const byCustomer = Map.groupBy(all, (one) => one.customerId)
    return rows.map((row) => customerView(row, byCustomer.get(row.id) ?? []))
  }
  const shown = async (row: CustomerRow) => (await withHoldings([row]))[0]!

  app.post(
    '/v1/customers',
    {
      config,
      schema: {
        tags,
        operationId: 'customer.create',
        summary: 'Create a customer, or update the one with this source_id',
        body: Type.Object({ id: Type.Optional(IdParam), ...customerFields }),
        response: { 200: shownAs(Customer) },
      },
    },
    async ({ projectId, body: { id, ...fields } }) =>
      shown(await deps.db.transaction((tx) => saveCustomer(deps, tx, { projectId, id, fields }))),
  )

  app.get(
    '/v1/customers',
    {
      config,
      schema: {
        tags,
        operationId: 'customer.list',
        summary: 'List customers, newest first',
        querystring: Type.Object({
          ...PageQuery,
          email: filterField('Exact address.'),
          name: filterField('Exact name.'),
        }),
        response: { 200: namedListOf('customers', Customer) },
        'x-columns': ['id', 'source_id', 'name', 'email', 'loyalty.points', 'created_at'],
      },
    },
    async ({ projectId, query }) => {
      const page = pageOf(query)
      const { rows, total } = await listCustomerRows(deps.db, projectId, { ...query, page })
      return namedList('customers', { rows: await withHoldings(rows), total }, { page, item: (view) => view })
    },
  )

  app.get(
    '/v1/customers/:customerId',
    {
      config,
      schema: {
        tags,
        operationId: 'customer.show',
        summary: 'Read a customer, by id or source_id',
        params: Params,
        response: { 200: shownAs(Customer) },
      },
    },
    async ({ projectId, params }) => shown(await requireCustomer(deps.db, projectId, params.customerId)),
  )

  app.put(
    '/v1/customers/:customerId',
    {
      config,
      schema: {
        tags,
        operationId: 'customer.update',
        summary: 'Change a customer',
        description: 'Fields that are sent are replaced; omitted fields stay unchanged.',
        params: Params,
        body: Type.Object(customerFields),
        response: { 200: shownAs(Customer) },
      },
    },
    async ({ projectId, params, body: fields }) =>
      shown(
        await deps.db.transaction((tx) => changeCustomer(tx, { projectId, id: params.customerId, fields })),
      ),
  )

  app.delete(
    '/v1/customers/:customerId',
    {
      config,
      schema: {
        tags,
        operationId: 'customer.delete',
        summary: 'Delete a customer and deactivate their loyalty cards',
        params: Params,
        response: { 204: Nothing },
      },
    },
    async ({ projectId, params }, reply) => {
      await deleteCustomer(deps, projectId, params.customerId)
      return reply.code(204).send(null)
    },
  )
}
