import { isoTime } from '../../platform/http/index.ts'
import type { PointEntryRow } from './point-entry.store.ts'

export const balanceView = (entry: PointEntryRow) => ({
  points: entry.points,
  total: entry.total,
  balance: entry.balance,
  type: 'loyalty_card' as const,
  object: 'balance' as const,
  related_object: { type: 'voucher' as const, id: entry.voucher_id },
})

/** Ledger entry in Voucherify's format. */
export const transactionView = (entry: PointEntryRow) => ({
  id: entry.id,
  source_id: entry.source_id,
  voucher_id: entry.voucher_id,
  campaign_id: entry.campaign_id,
  source: 'API',
  reason: entry.reason,
  type: entry.type,
  details: {
    balance: { ...balanceView(entry), operation_type: entry.redemption_id ? 'AUTOMATIC' : 'MANUAL' },
    ...(entry.redemption_id && { redemption: { id: entry.redemption_id } }),
    ...(entry.reward_id && { reward: { id: entry.reward_id, name: entry.reward_name } }),
  },
  related_transaction_id: null,
  created_at: isoTime(entry.created_at),
})

/** Activity of a card: each ledger entry with the name of its event. */
export const activityView = (entry: PointEntryRow) => ({
  id: entry.id,
  type:
    entry.type === 'POINTS_REDEMPTION'
      ? 'customer.reward_redemptions.completed'
      : 'voucher.loyalty_card.transaction_created',
  data: { transaction: transactionView(entry) },
  created_at: isoTime(entry.created_at),
  group_id: entry.request_id,
})
