import { Problem } from '../../contract/problem.ts'
import { isoTime, isoTimeOrNull } from '../../platform/http/index.ts'
import type { CampaignRow, CampaignType } from './campaign.store.ts'
import { type CodeConfig, codeConfigOf } from './code.ts'

export type VoucherType = 'LOYALTY_CARD' | 'DISCOUNT_VOUCHER' | 'GIFT_VOUCHER'

/** Template of the vouchers of a campaign. */
export interface VoucherPlan {
  readonly type: VoucherType
  readonly loyalty_card?: { readonly points: number }
  readonly discount?: object
  readonly gift?: { readonly amount: number }
  readonly redemption: { readonly quantity: number | null }
  readonly code_config: CodeConfig
}

export const planOf = (row: CampaignRow): VoucherPlan => JSON.parse(row.voucher)

const VOUCHER_OF: Readonly<Record<CampaignType, VoucherType>> = {
  LOYALTY_PROGRAM: 'LOYALTY_CARD',
  DISCOUNT_COUPONS: 'DISCOUNT_VOUCHER',
  GIFT_VOUCHERS: 'GIFT_VOUCHER',
}
const VALUE_OF = { LOYALTY_CARD: 'loyalty_card', DISCOUNT_VOUCHER: 'discount', GIFT_VOUCHER: 'gift' } as const

export interface SentPlan {
  readonly type: VoucherType
  readonly loyalty_card?: { readonly points: number }
  readonly discount?: object
  readonly gift?: { readonly amount: number }
  readonly redemption?: { readonly quantity?: number | null }
  readonly code_config?: Parameters<typeof codeConfigOf>[0]
}

/** JSON Schema: the voucher has the type that fits the campaign, and a value. */
export const voucherRule = (campaignType: CampaignType) => {
  const type = VOUCHER_OF[campaignType]
  return { allOf: [{ properties: { type: { const: type } } }, { required: [VALUE_OF[type]] }] }
}

export function planFrom(sent: SentPlan): VoucherPlan {
  const { type } = sent
  const value = VALUE_OF[type]
  return {
    type,
    [value]: type === 'LOYALTY_CARD' ? { points: sent.loyalty_card!.points } : sent[value],
    redemption: { quantity: sent.redemption?.quantity ?? null },
    code_config: codeConfigOf(sent.code_config),
  }
}

/** Short form of a campaign in events. */
export const simpleCampaignView = (row: CampaignRow) => ({
  id: row.id,
  name: row.name,
  campaign_type: row.campaign_type,
  type: row.type,
  voucher: planOf(row),
  auto_join: row.auto_join === 1,
  join_once: row.join_once === 1,
  active: row.active === 1,
  category: null,
  category_id: null,
  metadata: JSON.parse(row.metadata) as object,
  start_date: isoTimeOrNull(row.starts_at),
  expiration_date: isoTimeOrNull(row.expires_at),
  description: row.description,
  created_at: isoTime(row.created_at),
  object: 'campaign' as const,
})

export const campaignView = (row: CampaignRow) => ({
  ...simpleCampaignView(row),
  updated_at: isoTimeOrNull(row.updated_at),
  vouchers_generation_status: 'DONE' as const,
})

/** Throws if the campaign is not running, so that nothing can be redeemed in it. */
export function checkRunning(row: CampaignRow, now: number): void {
  const resource = { type: 'campaign', id: row.id }
  const subject = `The campaign ${JSON.stringify(row.name)}`
  if (row.active !== 1)
    throw new Problem('campaign_inactive', { message: `${subject} is not active.`, resource })
  if (row.starts_at !== null && now < row.starts_at)
    throw new Problem('campaign_not_started', {
      message: `${subject} starts at ${isoTime(row.starts_at)}.`,
      resource,
    })
  if (row.expires_at !== null && now >= row.expires_at)
    throw new Problem('campaign_ended', {
      message: `${subject} ended at ${isoTime(row.expires_at)}.`,
      resource,
    })
}

export function checkDates({ starts_at, expires_at }: Pick<CampaignRow, 'starts_at' | 'expires_at'>): void {
  if (starts_at === null || expires_at === null || starts_at < expires_at) return
  throw new Problem('invalid_payload', {
    message: 'expiration_date must be later than start_date.',
    details: 'Nothing was changed.',
  })
}
