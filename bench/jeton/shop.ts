import { addMember, createCampaign } from '../../server/src/features/campaigns/index.ts'
import { assignReward, createReward, saveProduct } from '../../server/src/features/rewards/index.ts'
import type { Transaction } from '../../server/src/platform/database/index.ts'
import { randomBytes } from '../../server/src/platform/secrets.ts'
import type { Store } from '../stores.ts'
import { withDatabase } from './projects.ts'

/** Enough that two concurrent requests hardly ever use the same card. */
const CARDS = 200
/** Never spent, and the number of digits stays the same during a run. */
const POINTS = 999_999
const STOCK = 1_000_000_000

export interface Shop {
  readonly campaignId: string
  readonly rewardId: string
  readonly cardCodes: readonly string[]
}

const deps = { random: randomBytes }

/** Creates a loyalty program with many cards and one reward that costs a point. */
export const createShop = (store: Store, projectId: string): Promise<Shop> =>
  withDatabase(store, (db) =>
    db.transaction(async (tx) => {
      const voucher = { type: 'LOYALTY_CARD', loyalty_card: { points: POINTS } } as const
      const fields = { name: 'Club', campaign_type: 'LOYALTY_PROGRAM', voucher } as const
      const { id: campaignId } = await createCampaign(deps, tx, { projectId, fields })
      const cardCodes: string[] = []
      for (let i = 0; i < CARDS; i++) cardCodes.push(await createCard(tx, projectId, campaignId))
      return { campaignId, cardCodes, rewardId: await createMug(tx, projectId, campaignId) }
    }),
  )

async function createCard(tx: Transaction, projectId: string, campaignId: string): Promise<string> {
  const campaign = { projectId, idOrName: campaignId }
  const customer = { name: 'Ann', email: 'ann@example.com' }
  return (await addMember(deps, tx, { campaign, customer, requestId: null })).card.code
}

async function createMug(tx: Transaction, projectId: string, campaign: string): Promise<string> {
  const product = await saveProduct(deps, tx, { projectId, fields: { name: 'Mug' } })
  const parameters = { product: { id: product.id } }
  const fields = { name: 'Mug', type: 'MATERIAL', stock: STOCK, parameters } as const
  const { id: rewardId } = await createReward(deps, tx, { projectId, fields })
  await assignReward(deps, tx, { projectId, rewardId, campaign, parameters: { loyalty: { points: 1 } } })
  return rewardId
}
