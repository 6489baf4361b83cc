import { openStore } from '../server/src/app/compose.ts'
import { addMember, createCampaign } from '../server/src/features/campaigns/index.ts'
import { assignReward, createReward, saveProduct } from '../server/src/features/rewards/index.ts'
import { systemClock } from '../server/src/platform/clock.ts'
import { readConfig } from '../server/src/platform/config/index.ts'
import type { Transaction } from '../server/src/platform/database/index.ts'
import { randomBytes } from '../server/src/platform/secrets.ts'
import type { Store } from './stores.ts'

/** So many that hardly two requests in flight are for the same card. */
const CARDS = 200
/** More than is ever spent, and of as many digits from the first redemption to the last. */
const POINTS = 999_999
const STOCK = 1_000_000_000

export interface Card {
  readonly id: string
  readonly code: string
  readonly holderId: string
}

/** A loyalty program with cards that are all alike, and a reward that all of them can pay for. */
export interface Shop {
  readonly projectId: string
  readonly campaignId: string
  readonly rewardId: string
  readonly cards: readonly Card[]
}

const deps = { random: randomBytes }

/** By the functions behind the API, in one transaction. */
export async function prepareShop(store: Store, projectId: string): Promise<Shop> {
  const { db } = await openStore({ config: readConfig(store.env), clock: systemClock })
  try {
    return await db.transaction((tx) => openShop(tx, projectId))
  } finally {
    await db.close()
  }
}

async function openShop(tx: Transaction, projectId: string): Promise<Shop> {
  const voucher = { type: 'LOYALTY_CARD', loyalty_card: { points: POINTS } } as const
  const fields = { name: 'Club', campaign_type: 'LOYALTY_PROGRAM', voucher } as const
  const campaign = await createCampaign(deps, tx, { projectId, fields })
  const cards: Card[] = []
  for (let i = 0; i < CARDS; i++) cards.push(await join(tx, projectId, campaign.id))
  return { projectId, campaignId: campaign.id, rewardId: await offer(tx, projectId, campaign.id), cards }
}

async function join(tx: Transaction, projectId: string, campaignId: string): Promise<Card> {
  const { card } = await addMember(deps, tx, {
    campaign: { projectId, idOrName: campaignId },
    customer: { name: 'Ann', email: 'ann@example.com' },
    requestId: null,
  })
  return { id: card.id, code: card.code, holderId: card.holder_id! }
}

/** A MATERIAL reward for one point. */
async function offer(tx: Transaction, projectId: string, campaign: string): Promise<string> {
  const product = await saveProduct(deps, tx, { projectId, fields: { name: 'Mug' } })
  const { id: rewardId } = await createReward(deps, tx, {
    projectId,
    fields: { name: 'Mug', type: 'MATERIAL', stock: STOCK, parameters: { product: { id: product.id } } },
  })
  await assignReward(deps, tx, { projectId, rewardId, campaign, parameters: { loyalty: { points: 1 } } })
  return rewardId
}
