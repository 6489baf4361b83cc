import type { Transaction } from '../../platform/database/index.ts'
import type { RandomBytes } from '../../platform/secrets.ts'
import {
  addCard,
  type CampaignRow,
  changePoints,
  findCardOf,
  issueVoucher,
  planOf,
  requireCampaign,
  requireLockedCampaign,
  type VoucherRow,
  voucherView,
} from '../campaigns/index.ts'
import { parametersOf, type RewardRow, requireProduct, simpleProductView } from '../rewards/index.ts'

/** A loyalty program that the reward adds points to, locked, and the customer's card in it where there is one. */
export interface Target {
  readonly campaign: CampaignRow
  readonly card: VoucherRow | undefined
}

/** Before any card is locked: joining a program locks its campaign first, and so must this. */
export async function findTarget(
  tx: Transaction,
  reward: RewardRow,
  holderId: string | null,
): Promise<Target | undefined> {
  const { campaign: named } = parametersOf(reward)
  if (named?.type !== 'LOYALTY_PROGRAM' || holderId === null) return undefined
  const projectId = reward.project_id
  const campaign = await requireLockedCampaign(tx, { projectId, idOrName: named.id })
  return { campaign, card: await findCardOf(tx, { projectId, campaignId: campaign.id, holderId }) }
}

export interface Grant {
  readonly reward: RewardRow
  readonly holderId: string
  readonly redemptionId: string
  readonly requestId: string | null
  readonly target: Target | undefined
}

interface Granted {
  readonly voucherId: string | null
  /** As it stands in the answer and in the event. */
  readonly shown: { readonly voucher?: object; readonly product?: object }
  /** A card whose points this changed. */
  readonly card?: VoucherRow
}

/** Gives the customer what the points were for. Stock is taken elsewhere, and COIN is an amount off the order. */
export async function grantReward(
  deps: { random: RandomBytes },
  tx: Transaction,
  grant: Grant,
): Promise<Granted> {
  const { reward, target } = grant
  const projectId = reward.project_id
  const { product, campaign } = parametersOf(reward)
  if (product) {
    const row = await requireProduct(tx, { projectId, id: product.id })
    return { voucherId: null, shown: { product: simpleProductView(row) } }
  }
  if (!campaign) return { voucherId: null, shown: {} }
  if (target) return addPoints(deps, tx, grant, target)
  const source = await requireCampaign(tx, { projectId, idOrName: campaign.id })
  const request = { campaign: source, holderId: grant.holderId, amount: campaign.balance }
  const voucher = await issueVoucher(deps, tx, request)
  return { voucherId: voucher.id, shown: { voucher: voucherView(voucher, source) } }
}

async function addPoints(
  deps: { random: RandomBytes },
  tx: Transaction,
  { reward, holderId, redemptionId, requestId }: Grant,
  { campaign, card: existing }: Target,
): Promise<Granted> {
  const before = existing ?? (await addCard(deps, tx, { campaign, holderId, requestId }))
  const points = parametersOf(reward).campaign!.balance ?? planOf(campaign).loyalty_card!.points
  const change = { type: 'POINTS_ADDITION', points, requestId, redemptionId, reward } as const
  const { card } = await changePoints(deps, tx, { card: before, change })
  return { voucherId: card.id, shown: { voucher: voucherView(card, campaign) }, card }
}
