import { notFound } from '../../contract/problem.ts'
import type { Transaction } from '../../platform/database/index.ts'
import type { RandomBytes } from '../../platform/secrets.ts'
import {
  addCard,
  type CampaignRow,
  type ChangedCard,
  findCampaign,
  findCardOf,
  issueVoucher,
  planOf,
  requireLockedCampaign,
  type VoucherRow,
  voucherView,
  withPointsChanged,
} from '../campaigns/index.ts'
import { findProductById, parametersOf, type RewardRow, simpleProductView } from '../rewards/index.ts'

interface Deps {
  readonly random: RandomBytes
}

/** A loyalty program that the reward adds points to, locked, and the customer's card in it, if there is one. */
export interface Target {
  readonly campaign: CampaignRow
  readonly card: VoucherRow | undefined
}

/** Must run before any card is locked, because joining a program also locks its campaign first. */
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

/** Reads the product or the voucher campaign of the reward, depending on its type. */
export async function findContents(tx: Transaction, reward: RewardRow) {
  const { product, campaign } = parametersOf(reward)
  const projectId = reward.project_id
  if (product) return { product: await findProductById(tx, projectId, product.id) }
  if (campaign) return { source: await findCampaign(tx, projectId, campaign.id) }
  return {}
}

export type Contents = Awaited<ReturnType<typeof findContents>>

export interface Grant {
  readonly reward: RewardRow
  readonly contents: Contents
  readonly target: Target | undefined
  readonly holderId: string
  readonly redemptionId: string
  readonly requestId: string | null
  readonly now: number
}

interface Granted {
  readonly voucherId: string | null
  /** As the response and the event show it. */
  readonly shown: { readonly voucher?: object; readonly product?: object }
  /** The card that gets points; not yet written. */
  readonly changed?: ChangedCard
}

/**
 * Gives the customer the product, voucher or points of the reward. Stock is taken elsewhere, and COIN is a discount on the
 * order. A voucher is inserted here, because only the insert proves that its code is free.
 */
export async function grantReward(deps: Deps, tx: Transaction, grant: Grant): Promise<Granted> {
  const { reward, contents, target, holderId, now } = grant
  const { product, campaign } = parametersOf(reward)
  if (product) {
    if (!contents.product) throw notFound('product', product.id)
    return { voucherId: null, shown: { product: simpleProductView(contents.product) } }
  }
  if (!campaign) return { voucherId: null, shown: {} }
  if (target) return addPoints(deps, tx, grant, target)
  if (!contents.source) throw notFound('campaign', campaign.id)
  const request = { campaign: contents.source, holderId, amount: campaign.balance, now }
  const voucher = await issueVoucher(deps, tx, request)
  return { voucherId: voucher.id, shown: { voucher: voucherView(voucher, contents.source) } }
}

async function addPoints(
  deps: Deps,
  tx: Transaction,
  { reward, holderId, redemptionId, requestId, now }: Grant,
  { campaign, card: existing }: Target,
): Promise<Granted> {
  const before = existing ?? (await addCard(deps, tx, { campaign, holderId, requestId }))
  const points = parametersOf(reward).campaign!.balance ?? planOf(campaign).loyalty_card!.points
  const change = { type: 'POINTS_ADDITION', points, requestId, redemptionId, reward } as const
  const changed = withPointsChanged(deps, { card: before, change, now })
  return { voucherId: before.id, shown: { voucher: voucherView(changed.card, campaign) }, changed }
}
