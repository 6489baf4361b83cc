import { addMember, createCampaign } from '../features/campaigns/index.ts'
import { assignReward, createReward, saveProduct } from '../features/rewards/index.ts'
import type { Transaction } from '../platform/database/index.ts'
import type { RandomBytes } from '../platform/secrets.ts'

export const SAMPLE_MEMBER = 'SAMPLE-1'
const POINTS = 500
const PRICE = 100
const MUGS = 40

/** Creates a customer with points on a card, and mugs to redeem, so that a redemption works immediately. */
export async function makeSampleLoyalty(
  deps: { readonly random: RandomBytes },
  tx: Transaction,
  projectId: string,
): Promise<{ member: string; rewardId: string }> {
  const voucher = { type: 'LOYALTY_CARD', loyalty_card: { points: POINTS } } as const
  const fields = { name: 'Sample club', campaign_type: 'LOYALTY_PROGRAM', voucher } as const
  const campaign = await createCampaign(deps, tx, { projectId, fields })
  await addMember(deps, tx, {
    campaign: { projectId, idOrName: campaign.id },
    customer: { source_id: 'sample-customer', name: 'Ada Sample', email: 'ada@example.com' },
    code: SAMPLE_MEMBER,
    requestId: null,
  })
  const product = await saveProduct(deps, tx, { projectId, fields: { name: 'Mug', source_id: 'mug' } })
  const reward = await createReward(deps, tx, {
    projectId,
    fields: { name: 'Mug', type: 'MATERIAL', stock: MUGS, parameters: { product: { id: product.id } } },
  })
  const parameters = { loyalty: { points: PRICE } }
  await assignReward(deps, tx, { projectId, rewardId: reward.id, campaign: campaign.id, parameters })
  return { member: SAMPLE_MEMBER, rewardId: reward.id }
}
