import { Type } from 'typebox'
import type { Database } from '../../platform/database/index.ts'
import {
  type App,
  CursorQuery,
  filterField,
  forOperators,
  IdParam,
  isoTime,
  listAnswer,
  listOf,
  pageOf,
  strict,
} from '../../platform/http/index.ts'
import {
  cardCodesOf,
  findCampaign,
  findVoucher,
  holdingsOf,
  listCardRowsOf,
  listEntriesOfCards,
  type PointEntryRow,
  Voucher,
  voucherView,
} from '../campaigns/index.ts'
import {
  Customer,
  type CustomerRow,
  customerView,
  listCustomersByCursor,
  requireCustomer,
} from '../customers/index.ts'
import { requireProject } from '../projects/index.ts'
import { listRedemptionsOfCards } from '../redemptions/index.ts'
import { redemptionRecords } from './redemption-records.ts'
import { RedemptionRecord, Transaction } from './support.schemas.ts'

const config = forOperators('viewer')
const tags = ['customers']
const PATH = '/management/v1/projects/:project_id/customers'
const OF_CUSTOMER = `${PATH}/:customer_id`
const CustomerParams = Type.Object({ project_id: IdParam, customer_id: IdParam })
const ById = ' The path takes the id or the `source_id` of the customer.'

interface Deps {
  readonly db: Database
}

const positionOf = (row: { readonly created_at: number; readonly id: string }) => ({
  at: row.created_at,
  id: row.id,
})

/** Reads for people who help customers: who is it, what does she hold, was the receiver told? */
export function supportRoutes(app: App, deps: Deps): void {
  addCustomers(app, deps)
  addCards(app, deps)
  addTransactions(app, deps)
  addRedemptions(app, deps)
}

/** The id of a customer in a project, both of which must exist. */
async function customerIn({ db }: Deps, params: { project_id: string; customer_id: string }) {
  const { id: projectId } = await requireProject(db, params.project_id)
  const { id: holderId } = await requireCustomer(db, projectId, params.customer_id)
  return { projectId, holderId }
}

function addCustomers(app: App, { db }: Deps): void {
  app.get(
    PATH,
    {
      config,
      schema: {
        tags,
        operationId: 'customer.search',
        summary: 'Find customers of a project, newest first',
        description: 'Filters are exact, and can be combined. `total` counts up to 10,000.',
        params: Type.Object({ project_id: IdParam }),
        querystring: strict({
          ...CursorQuery,
          id: filterField('Id of the customer.'),
          source_id: filterField('Id of the customer in your own system.'),
          email: filterField('Email address.'),
          name: filterField('Full name.'),
          card: filterField('Code of a loyalty card of the customer.'),
        }),
        response: { 200: listOf(Customer) },
        'x-columns': ['id', 'source_id', 'name', 'email', 'created_at'],
      },
    },
    async ({ params, query }) => {
      const { id: projectId } = await requireProject(db, params.project_id)
      const page = pageOf(query)
      const found = await findCustomers(db, { ...query, projectId }, page)
      const holdings = await holdingsBy(db, found.rows)
      const item = (row: CustomerRow) => customerView(row, holdings.get(row.id) ?? [])
      return listAnswer(found, page, { item, position: positionOf })
    },
  )
}

interface CustomerQuery {
  readonly projectId: string
  readonly id?: string
  readonly source_id?: string
  readonly email?: string
  readonly name?: string
  readonly card?: string
}

async function findCustomers(db: Database, query: CustomerQuery, page: ReturnType<typeof pageOf>) {
  const { card, projectId, id = '', ...rest } = query
  if (card === undefined) return listCustomersByCursor(db, query, page)
  const holderId = (await findVoucher(db, projectId, card))?.holder_id ?? ''
  if (holderId === '' || (id !== '' && id !== holderId)) return { rows: [], total: 0 }
  return listCustomersByCursor(db, { ...rest, projectId, id: holderId }, page)
}

async function holdingsBy(db: Database, rows: readonly CustomerRow[]) {
  const ids = rows.map(({ id }) => id)
  const all = ids.length === 0 ? [] : await holdingsOf(db, rows[0]!.project_id, ids)
  return Map.groupBy(all, ({ customerId }) => customerId)
}

function addCards(app: App, deps: Deps): void {
  app.get(
    `${OF_CUSTOMER}/cards`,
    {
      config,
      schema: {
        tags,
        operationId: 'customer.cards',
        summary: 'List the loyalty cards of a customer, newest first',
        description: `Each with its balance.${ById}`,
        params: CustomerParams,
        querystring: strict(CursorQuery),
        response: { 200: listOf(Voucher) },
        'x-columns': ['code', 'campaign', 'loyalty_card.balance', 'active', 'created_at'],
      },
    },
    async ({ params, query }) => {
      const page = pageOf(query)
      const whose = await customerIn(deps, params)
      const found = await listCardRowsOf(deps.db, whose, page)
      const ids = [...new Set(found.rows.map(({ campaign_id }) => campaign_id))]
      const campaigns = await Promise.all(ids.map((id) => findCampaign(deps.db, whose.projectId, id)))
      const byId = new Map(campaigns.flatMap((one) => (one ? [[one.id, one]] : [])))
      const item = (row: (typeof found.rows)[number]) => voucherView(row, byId.get(row.campaign_id)!)
      return listAnswer(found, page, { item, position: positionOf })
    },
  )
}

const transactionView = (row: PointEntryRow, codes: ReadonlyMap<string, string>) => ({
  id: row.id,
  object: 'transaction' as const,
  card: codes.get(row.voucher_id)!,
  campaign_id: row.campaign_id,
  type: row.type,
  points: row.points,
  balance: row.balance,
  source_id: row.source_id,
  reason: row.reason,
  redemption_id: row.redemption_id,
  reward_id: row.reward_id,
  reward_name: row.reward_name,
  request_id: row.request_id,
  created_at: isoTime(row.created_at),
})

function addTransactions(app: App, deps: Deps): void {
  app.get(
    `${OF_CUSTOMER}/transactions`,
    {
      config,
      schema: {
        tags,
        operationId: 'customer.transactions',
        summary: 'List every change of the points of a customer, newest first',
        description: `On all loyalty cards of the customer.${ById}`,
        params: CustomerParams,
        querystring: strict(CursorQuery),
        response: { 200: listOf(Transaction) },
        'x-columns': ['created_at', 'card', 'type', 'points', 'balance', 'reward_name', 'reason'],
      },
    },
    async ({ params, query }) => {
      const page = pageOf(query)
      const { projectId, holderId } = await customerIn(deps, params)
      const codes = await cardCodesOf(deps.db, projectId, holderId)
      const found = await listEntriesOfCards(deps.db, { projectId, cardIds: [...codes.keys()] }, page)
      return listAnswer(found, page, { item: (row) => transactionView(row, codes), position: positionOf })
    },
  )
}

function addRedemptions(app: App, deps: Deps): void {
  app.get(
    `${OF_CUSTOMER}/redemptions`,
    {
      config,
      schema: {
        tags,
        operationId: 'customer.redemptions',
        summary: 'List the redemptions of a customer, newest first',
        description: `Each with the state of its event and its deliveries.${ById}`,
        params: CustomerParams,
        querystring: strict(CursorQuery),
        response: { 200: listOf(RedemptionRecord) },
        'x-columns': ['created_at', 'card', 'reward_name', 'points', 'event_id', 'event_state', 'deliveries'],
      },
    },
    async ({ params, query }) => {
      const page = pageOf(query)
      const { projectId, holderId } = await customerIn(deps, params)
      const codes = await cardCodesOf(deps.db, projectId, holderId)
      const { rows, total } = await listRedemptionsOfCards(
        deps.db,
        { projectId, cardIds: [...codes.keys()] },
        page,
      )
      const records = await redemptionRecords(deps.db, rows, codes)
      return listAnswer({ rows: records, total }, page, {
        item: ({ position: _, ...record }) => record,
        position: ({ position }) => position,
      })
    },
  )
}
