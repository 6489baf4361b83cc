import { REWARD_REDEMPTION_COMPLETED } from '../../contract/event-kinds.ts'
import { ID_PREFIX } from '../../contract/ids.ts'
import { notFound, Problem } from '../../contract/problem.ts'
import type { Transaction } from '../../platform/database/index.ts'
import { type Metadata, metadataText } from '../../platform/http/index.ts'
import { newId, type RandomBytes } from '../../platform/secrets.ts'
import {
  type CardName,
  changePoints,
  checkRunning,
  checkValid,
  lockVouchers,
  requireCard,
  type VoucherRow,
} from '../campaigns/index.ts'
import { requireCustomer } from '../customers/index.ts'
import { writeEvent } from '../events/index.ts'
import { findAssignmentOf, type RewardRow, requireReward, takeOne } from '../rewards/index.ts'
import { findTarget, grantReward, type Target } from './grant-reward.ts'
import { type Bill, billFor, type SentOrder } from './order.ts'
import { insertRedemption } from './redemption.store.ts'
import { type Completed, redemptionEvent } from './redemption.ts'

interface Deps {
  readonly random: RandomBytes
}

export interface RedemptionRequest {
  readonly name: CardName
  readonly rewardId: string
  /** How many points to turn into money, for COIN. */
  readonly points?: number | undefined
  readonly order?: SentOrder | null | undefined
  readonly metadata?: Metadata | null | undefined
  readonly requestId: string | null
  readonly apiKey: { readonly name: string; readonly app_id: string } | undefined
}

/**
 * One transaction for points, voucher, redemption, event and stock: all of it or nothing. Locks are taken in the order
 * in which everyone takes them (campaign, cards by their ids, reward), and the reward last, since that row is the one
 * that all who want the same reward wait for.
 */
export async function redeemReward(
  deps: Deps,
  tx: Transaction,
  request: RedemptionRequest,
): Promise<Completed> {
  const found = await findAll(tx, request)
  const { card, target } = await lockCards(tx, request, found)
  const now = await tx.now()
  checkValid(card, now)
  checkRunning(found.campaign, now)
  if (found.reward.stock === 0) throw outOfStock(found.reward)
  const customer = await requireCustomer(tx, card.project_id, card.holder_id!)
  const bill = billFor(request, { ...found, balance: card.balance })
  const id = newId(deps.random, ID_PREFIX.redemption)
  const exchanged = await exchange(deps, tx, { id, card, target, bill, reward: found.reward, request })
  const done: Completed = {
    ...found,
    ...exchanged,
    customer,
    order: bill.order,
    redemption: redemptionRow(deps, request, { id, now, found, bill, customer, ...exchanged }),
  }
  await record(deps, tx, request, done)
  if (!(await takeOne(tx, found.reward))) throw outOfStock(found.reward)
  return done
}

async function findAll(tx: Transaction, { name, rewardId }: RedemptionRequest) {
  const { campaign, card } = await requireCard(tx, name)
  const reward = await requireReward(tx, name.projectId, rewardId)
  const assignment = await findAssignmentOf(tx, name.projectId, { rewardId, campaignId: campaign.id })
  if (!assignment) throw notAssigned(reward, campaign.name)
  return { campaign, card, reward, assignment }
}

type Found = Awaited<ReturnType<typeof findAll>>

/** The card that pays, and the one that a reward of another program adds to, as they are under their locks. */
async function lockCards(tx: Transaction, { name }: RedemptionRequest, found: Found) {
  const target = await findTarget(tx, found.reward, found.card.holder_id)
  const ids = [found.card.id, ...(target?.card ? [target.card.id] : [])]
  const locked = await lockVouchers(tx, name.projectId, ids)
  const card = locked.get(found.card.id)
  if (!card) throw notFound('voucher', name.code)
  return { card, target: target && { ...target, card: target.card && locked.get(target.card.id) } }
}

interface Exchange {
  readonly id: string
  readonly card: VoucherRow
  readonly target: Target | undefined
  readonly bill: Bill
  readonly reward: RewardRow
  readonly request: RedemptionRequest
}

/** Takes the points and gives what they were for. */
async function exchange(deps: Deps, tx: Transaction, { id, card, target, bill, reward, request }: Exchange) {
  const { requestId } = request
  const points = 0 - bill.points
  const change = { type: 'POINTS_REDEMPTION', points, requestId, redemptionId: id, reward } as const
  const spent = await changePoints(deps, tx, { card, change })
  // A reward may add points to the very card that pays for it.
  const own = target?.card?.id === card.id
  const given = await grantReward(deps, tx, {
    reward,
    holderId: card.holder_id!,
    redemptionId: id,
    requestId,
    target: own ? { ...target, card: spent.card } : target,
  })
  return { card: own ? given.card! : spent.card, granted: given.shown, voucherId: given.voucherId }
}

interface Settled {
  readonly id: string
  readonly now: number
  readonly found: Found
  readonly bill: Bill
  readonly customer: { readonly id: string }
  readonly voucherId: string | null
}

const redemptionRow = (
  { random }: Deps,
  { metadata }: RedemptionRequest,
  { id, now, found, bill, customer, voucherId }: Settled,
): Completed['redemption'] => ({
  project_id: found.card.project_id,
  id,
  reward_redemption_id: newId(random, ID_PREFIX.reward_redemption),
  voucher_id: found.card.id,
  campaign_id: found.campaign.id,
  customer_id: customer.id,
  reward_id: found.reward.id,
  reward_assignment_id: found.assignment.id,
  points: bill.points,
  order: bill.order && JSON.stringify(bill.order),
  metadata: metadataText(metadata),
  issued_voucher_id: voucherId,
  created_at: now,
})

async function record(
  deps: Deps,
  tx: Transaction,
  { apiKey, requestId }: RedemptionRequest,
  done: Completed,
): Promise<void> {
  const event = await writeEvent(deps, tx, {
    projectId: done.redemption.project_id,
    kind: REWARD_REDEMPTION_COMPLETED,
    entityId: done.customer.id,
    campaignId: done.campaign.id,
    groupId: requestId,
    source: { channel: 'API', apiKey },
    data: redemptionEvent(done),
  })
  await insertRedemption(tx, { ...done.redemption, event_id: event.id })
}

const outOfStock = (reward: RewardRow): Problem =>
  new Problem('reward_out_of_stock', {
    message: `Nothing is left of the reward ${JSON.stringify(reward.name)}.`,
    details: 'No points were taken.',
    resource: { type: 'reward', id: reward.id },
  })

const notAssigned = (reward: RewardRow, campaign: string): Problem =>
  new Problem('not_found', {
    message: `The reward ${JSON.stringify(reward.name)} is not assigned to the campaign ${JSON.stringify(campaign)}.`,
    details: `Assign it: POST /v1/rewards/${reward.id}/assignments`,
    resource: { type: 'reward_assignment', id: reward.id },
  })
