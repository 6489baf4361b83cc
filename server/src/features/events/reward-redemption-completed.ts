import {
  about,
  anyObject,
  boolean,
  constant,
  constantOrNull,
  id,
  integer,
  listOf,
  object,
  oneOf,
  orNull,
  type Schema,
  text,
  textOrNull,
  time,
  timeOrNull,
} from './schema-parts.ts'

/** The fields of `EVENTS.CUSTOMER.REWARD_REDEMPTIONS.COMPLETED`, version 2024-01-01, in the order in which they are sent. */

const customer = object({
  id,
  source_id: textOrNull,
  name: textOrNull,
  email: textOrNull,
  metadata: anyObject,
  object: constant('customer'),
})

const voucher = object({
  id,
  code: text,
  type: constant('LOYALTY_CARD'),
  loyalty_card: object({ points: integer, balance: integer }),
  campaign: textOrNull,
  campaign_id: textOrNull,
  holder_id: textOrNull,
  is_referral_code: orNull(boolean),
  active: boolean,
  created_at: time,
  updated_at: timeOrNull,
  redemption: object({ quantity: orNull(integer), redeemed_quantity: integer, redeemed_points: integer }),
  start_date: timeOrNull,
  expiration_date: timeOrNull,
  category_id: textOrNull,
  metadata: anyObject,
  object: constant('voucher'),
})

/** A voucher of any type, issued by a CAMPAIGN reward. */
const issuedVoucher = object(
  { id, code: text },
  {
    type: text,
    discount: anyObject,
    gift: anyObject,
    loyalty_card: object({ points: integer, balance: integer }),
    campaign: textOrNull,
    campaign_id: textOrNull,
    holder_id: textOrNull,
    is_referral_code: orNull(boolean),
    active: boolean,
    created_at: time,
    updated_at: timeOrNull,
    redemption: anyObject,
    start_date: timeOrNull,
    expiration_date: timeOrNull,
    category_id: textOrNull,
    metadata: anyObject,
    object: constant('voucher'),
  },
)

const codeConfig = object({
  length: orNull(integer),
  charset: textOrNull,
  prefix: textOrNull,
  postfix: textOrNull,
  pattern: textOrNull,
})

const campaign = object({
  id,
  name: text,
  campaign_type: constant('LOYALTY_PROGRAM'),
  type: oneOf('AUTO_UPDATE', 'STATIC'),
  voucher: object({
    type: constant('LOYALTY_CARD'),
    loyalty_card: object({ points: integer }),
    redemption: orNull(anyObject),
    code_config: codeConfig,
  }),
  auto_join: boolean,
  join_once: boolean,
  active: boolean,
  category: textOrNull,
  category_id: textOrNull,
  metadata: anyObject,
  start_date: timeOrNull,
  expiration_date: timeOrNull,
  description: textOrNull,
  created_at: time,
  object: constant('campaign'),
})

const rewardRedemption = object({
  id,
  state: constant('COMPLETED'),
  created_at: time,
  updated_at: timeOrNull,
  voucher_id: textOrNull,
  campaign_id: textOrNull,
  customer_id: id,
  reward_assignment_id: textOrNull,
  source_id: textOrNull,
  source_type: constantOrNull('redemption'),
})

const reward = object(
  {
    id,
    name: textOrNull,
    type: oneOf('CAMPAIGN', 'COIN', 'MATERIAL'),
    assignment_id: textOrNull,
    parameters: orNull(anyObject),
    created_at: time,
    updated_at: timeOrNull,
    object: constant('reward'),
  },
  {
    voucher: about('Issued for a CAMPAIGN reward.', orNull(issuedVoucher)),
    product: orNull(object({ id, source_id: textOrNull, name: textOrNull })),
    sku: orNull(anyObject),
    metadata: anyObject,
  },
)

const rewardAssignment = object({
  id,
  reward_id: id,
  related_object_id: id,
  related_object_type: constant('campaign'),
  parameters: orNull(object({ loyalty: object({ points: orNull(integer) }) })),
  created_at: time,
  updated_at: timeOrNull,
  object: constant('reward_assignment'),
})

const publication = object({
  id,
  object: constant('publication'),
  created_at: time,
  customer_id: id,
  tracking_id: textOrNull,
  metadata: object({ source_type: textOrNull, source_id: textOrNull, distribution_id: id }),
  channel: constant('API'),
  source_id: textOrNull,
  result: constant('SUCCESS'),
  customer: {
    ...customer,
    required: [...(customer.required as string[]), 'summary', 'loyalty', 'referrals'],
    properties: {
      ...(customer.properties as object),
      summary: orNull(anyObject),
      loyalty: orNull(anyObject),
      referrals: orNull(anyObject),
    },
  },
  voucher: about('Voucher of the reward, or the loyalty card for MATERIAL and COIN.', issuedVoucher),
  vouchers_id: listOf(text),
})

const fields: Readonly<Record<string, Schema>> = {
  customer,
  holder: about('Holder of the loyalty card.', orNull(customer)),
  voucher: about('The loyalty card, with its balance after the redemption.', orNull(voucher)),
  campaign: about('The loyalty campaign.', orNull(campaign)),
  reward_redemption: rewardRedemption,
  reward,
  reward_assignment: orNull(rewardAssignment),
  source: orNull(object({ id, type: constant('redemption') })),
  balance: about(
    'Balance of the loyalty card after the redemption; null if the reward cost nothing.',
    orNull(object({ amount: integer })),
  ),
}

export const DATA_FIELDS: readonly string[] = Object.keys(fields)

/** `data` as sent to receivers. */
export const sentData: Schema = object(fields, {
  publication: about('Only sent to distributions.', publication),
})

/** `data` as stored and as reported. */
export const storedData: Schema = object(fields, {
  publication: { not: {}, 'x-says': 'must not be sent: Jeton creates one for every distribution' },
})
