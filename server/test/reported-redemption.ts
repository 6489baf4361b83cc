/** A redemption that a platform reports: the complete `data` of the event, as docs/guides/report-redemptions.md shows it. */
export function redemptionData(customerId = 'cust_7', campaignId = 'camp_3') {
  const at = '2026-01-15T12:00:00.000Z'
  const customer = {
    id: customerId,
    source_id: 'crm-7',
    name: 'Zoë',
    email: 'zoe@example.com',
    metadata: { tier: 'gold' },
    object: 'customer',
  }
  return {
    customer,
    holder: customer,
    voucher: {
      id: 'v_1',
      code: 'CARD-1',
      type: 'LOYALTY_CARD',
      loyalty_card: { points: 500, balance: 400 },
      campaign: 'Club',
      campaign_id: campaignId,
      holder_id: customerId,
      is_referral_code: false,
      active: true,
      created_at: at,
      updated_at: null,
      redemption: { quantity: null, redeemed_quantity: 1, redeemed_points: 100 },
      start_date: null,
      expiration_date: null,
      category_id: null,
      metadata: {},
      object: 'voucher',
    },
    campaign: {
      id: campaignId,
      name: 'Club',
      campaign_type: 'LOYALTY_PROGRAM',
      type: 'AUTO_UPDATE',
      voucher: {
        type: 'LOYALTY_CARD',
        loyalty_card: { points: 0 },
        redemption: { quantity: null },
        code_config: { length: 8, charset: null, prefix: null, postfix: null, pattern: null },
      },
      auto_join: false,
      join_once: true,
      active: true,
      category: null,
      category_id: null,
      metadata: {},
      start_date: null,
      expiration_date: null,
      description: null,
      created_at: at,
      object: 'campaign',
    },
    reward_redemption: {
      id: 'rewr_1',
      state: 'COMPLETED',
      created_at: at,
      updated_at: null,
      voucher_id: 'v_1',
      campaign_id: campaignId,
      customer_id: customerId,
      reward_assignment_id: 'rewa_1',
      source_id: 'r_1',
      source_type: 'redemption',
    },
    reward: {
      id: 'rew_1',
      name: 'Mug',
      type: 'MATERIAL',
      assignment_id: 'rewa_1',
      parameters: { product: { id: 'prod_1', sku_id: null } },
      product: { id: 'prod_1', source_id: 'mug', name: 'Mug' },
      metadata: {},
      created_at: at,
      updated_at: null,
      object: 'reward',
    },
    reward_assignment: {
      id: 'rewa_1',
      reward_id: 'rew_1',
      related_object_id: campaignId,
      related_object_type: 'campaign',
      parameters: { loyalty: { points: 100 } },
      created_at: at,
      updated_at: null,
      object: 'reward_assignment',
    },
    source: { id: 'r_1', type: 'redemption' },
    balance: { amount: -100 },
  }
}

export type RedemptionData = ReturnType<typeof redemptionData>

/** The same with one field replaced, or left out where the value is undefined: `changed('reward.type', 'GIFT')`. */
export function changed(path: string, value: unknown): RedemptionData {
  const data = structuredClone(redemptionData()) as object
  const names = path.split('.')
  const last = names.pop()!
  const parent = names.reduce((inner, name) => Reflect.get(inner, name) as object, data)
  if (value === undefined) Reflect.deleteProperty(parent, last)
  else Reflect.set(parent, last, value)
  return data as RedemptionData
}
