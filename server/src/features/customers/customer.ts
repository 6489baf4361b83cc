import { Type } from 'typebox'
import {
  type BodyOf,
  given,
  isoTime,
  isoTimeOrNull,
  longTextField,
  metadataField,
  metadataText,
  sourceIdField,
  textField,
} from '../../platform/http/index.ts'
import type { CustomerRow } from './customer.store.ts'

const ADDRESS = ['city', 'state', 'line_1', 'line_2', 'country', 'postal_code'] as const

const addressLines = Object.fromEntries(ADDRESS.map((line) => [line, textField(200)]))

export const customerFields = {
  source_id: sourceIdField,
  name: textField(200),
  email: textField(254),
  phone: textField(50),
  description: longTextField(2_000),
  address: Type.Optional(
    Type.Unsafe<Record<string, string | null> | null>({ type: ['object', 'null'], properties: addressLines }),
  ),
  metadata: metadataField,
}

const Fields = Type.Object(customerFields)
export type CustomerFields = BodyOf<typeof Fields>

/** Columns of the fields that were sent. */
export function customerColumns(fields: CustomerFields): Partial<CustomerRow> {
  const columns: Partial<CustomerRow> = given(fields, ['source_id', 'name', 'email', 'phone', 'description'])
  if (fields.address !== undefined) columns.address = fields.address && addressText(fields.address)
  if (fields.metadata !== undefined) columns.metadata = metadataText(fields.metadata)
  return columns
}

const addressText = (address: Record<string, string | null>): string =>
  JSON.stringify(Object.fromEntries(ADDRESS.map((line) => [line, address[line] ?? null])))

/** Points of a customer in one campaign. */
export interface Holding {
  readonly customerId: string
  readonly campaign: string
  readonly balance: number
  readonly redeemedPoints: number
  readonly redeemedQuantity: number
}

/** Short form of a customer in events and redemptions. */
export const simpleCustomerView = (row: CustomerRow) => ({
  id: row.id,
  source_id: row.source_id,
  name: row.name,
  email: row.email,
  metadata: JSON.parse(row.metadata) as object,
  object: 'customer' as const,
})

export const customerView = (row: CustomerRow, holdings: readonly Holding[]) => ({
  id: row.id,
  source_id: row.source_id,
  name: row.name,
  description: row.description,
  email: row.email,
  phone: row.phone,
  address: row.address === null ? null : (JSON.parse(row.address) as object),
  metadata: JSON.parse(row.metadata) as object,
  summary: summaryOf(holdings),
  loyalty: loyaltyOf(holdings),
  referrals: { total: 0, campaigns: [] },
  created_at: isoTime(row.created_at),
  updated_at: isoTimeOrNull(row.updated_at),
  object: 'customer' as const,
})

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

/** Voucherify also counts failed redemptions, orders and gifts. Jeton has none of them, so those are zero. */
function summaryOf(holdings: readonly Holding[]) {
  const succeeded = sum(holdings.map((one) => one.redeemedQuantity))
  return {
    redemptions: {
      total_redeemed: succeeded,
      total_failed: 0,
      total_succeeded: succeeded,
      total_rolled_back: 0,
      total_rollback_failed: 0,
      total_rollback_succeeded: 0,
      gift: { redeemed_amount: 0, amount_to_go: 0 },
      loyalty_card: {
        redeemed_points: sum(holdings.map((one) => one.redeemedPoints)),
        points_to_go: sum(holdings.map((one) => one.balance)),
      },
    },
    orders: {
      total_amount: 0,
      total_count: 0,
      average_amount: 0,
      last_order_amount: 0,
      last_order_date: null,
    },
  }
}

function loyaltyOf(holdings: readonly Holding[]) {
  const campaigns = new Map<string, { points: number; referred_customers: number }>()
  for (const { campaign, balance } of holdings) {
    const points = (campaigns.get(campaign)?.points ?? 0) + balance
    campaigns.set(campaign, { points, referred_customers: 0 })
  }
  const points = sum(holdings.map((one) => one.balance))
  return { points, referred_customers: 0, campaigns: Object.fromEntries(campaigns) }
}
