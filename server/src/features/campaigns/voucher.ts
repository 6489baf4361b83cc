import { Type } from 'typebox'
import { Problem } from '../../contract/problem.ts'
import { isoTime, isoTimeOrNull, NullableText } from '../../platform/http/index.ts'
import type { CampaignRow } from './campaign.store.ts'
import { planOf } from './campaign.ts'
import type { VoucherRow } from './voucher.store.ts'

export const Voucher = Type.Object({
  id: Type.String(),
  code: Type.String(),
  type: Type.String(),
  loyalty_card: Type.Optional(Type.Object({ points: Type.Integer(), balance: Type.Integer() })),
  discount: Type.Optional(Type.Any()),
  gift: Type.Optional(Type.Any()),
  campaign: Type.String(),
  campaign_id: Type.String(),
  holder_id: NullableText,
  is_referral_code: Type.Boolean(),
  active: Type.Boolean(),
  created_at: Type.String(),
  updated_at: NullableText,
  redemption: Type.Any(),
  start_date: NullableText,
  expiration_date: NullableText,
  category_id: NullableText,
  metadata: Type.Any(),
  object: Type.Literal('voucher'),
})

function worthOf(row: VoucherRow): object {
  if (row.type === 'LOYALTY_CARD') return { loyalty_card: { points: row.points, balance: row.balance } }
  return { [row.type === 'GIFT_VOUCHER' ? 'gift' : 'discount']: JSON.parse(row.value!) }
}

/** Public view of a voucher or loyalty card, in responses and in events. */
export const voucherView = (row: VoucherRow, campaign: CampaignRow) => ({
  id: row.id,
  code: row.code,
  type: row.type,
  ...worthOf(row),
  campaign: campaign.name,
  campaign_id: row.campaign_id,
  holder_id: row.holder_id,
  is_referral_code: false,
  active: row.active === 1,
  created_at: isoTime(row.created_at),
  updated_at: isoTimeOrNull(row.updated_at),
  redemption: {
    quantity: planOf(campaign).redemption.quantity,
    redeemed_quantity: row.redeemed_quantity,
    redeemed_points: row.redeemed_points,
  },
  start_date: isoTimeOrNull(row.starts_at),
  expiration_date: isoTimeOrNull(row.expires_at),
  category_id: null,
  metadata: JSON.parse(row.metadata) as object,
  object: 'voucher' as const,
})

/** Throws if the card is not valid now, so that nothing can be redeemed with it. */
export function checkValid(row: VoucherRow, now: number): void {
  const resource = { type: 'voucher', id: row.code }
  const subject = `The card ${JSON.stringify(row.code)}`
  if (row.active !== 1)
    throw new Problem('voucher_disabled', { message: `${subject} is not active.`, resource })
  if (row.starts_at !== null && now < row.starts_at)
    throw new Problem('voucher_not_active', {
      message: `${subject} is valid from ${isoTime(row.starts_at)}.`,
      resource,
    })
  if (row.expires_at !== null && now >= row.expires_at)
    throw new Problem('voucher_expired', {
      message: `${subject} expired at ${isoTime(row.expires_at)}.`,
      resource,
    })
}
