import { REWARD_REDEMPTION_COMPLETED } from '../../contract/event-kinds.ts'
import { ID_PREFIX } from '../../contract/ids.ts'
import { notFound, Problem } from '../../contract/problem.ts'
import { NotNullViolation, type Transaction } from '../../platform/database/index.ts'
import { type Metadata, metadataText } from '../../platform/http/index.ts'
import { newId, type RandomBytes } from '../../platform/secrets.ts'
import {
  type CardName,
  type ChangedCard,
  checkRunning,
  checkValid,
  lockVouchers,
  requireCard,
  type VoucherRow,
  withPointsChanged,
  writePoints,
} from '../campaigns/index.ts'
import { findCustomerById } from '../customers/index.ts'
import { newEventId, writeEvent } from '../events/index.ts'
import { findReward, lockAssignment, type RewardRow, takeOne } from '../rewards/index.ts'
import { type Contents, findContents, findTarget, grantReward, type Target } from './grant-reward.ts'
import { type Bill, billFor, type SentOrder } from './order.ts'
import { insertRedemption } from './redemption.store.ts'
import { type Completed, redemptionEvent } from './redemption.ts'

interface Deps {
  readonly random: RandomBytes
}

export interface RedemptionRequest {
  readonly name: CardName
  readonly rewardId: string
  /** Points to spend, for COIN. */
  readonly points?: number | undefined
  readonly order?: SentOrder | null | undefined
  readonly metadata?: Metadata | null | undefined
  readonly requestId: string | null
  readonly traceparent: string | null
  readonly apiKey: { readonly name: string; readonly app_id: string } | undefined
}

/**
 * Writes points, voucher, redemption, event and stock in one transaction. Independent statements are sent together in three
 * steps: find the records, lock them, write. They run in the order in which they are sent, which is also the lock order:
 * campaign, assignment, cards by id, reward. The reward is last because all its redemptions wait for that row.
 */
export async function redeemReward(
  deps: Deps,
  tx: Transaction,
  request: RedemptionRequest,
): Promise<Completed> {
  const named = await findNamed(tx, request)
  const found = await lockCards(tx, request, named)
  const { card, campaign, reward, assignment, customer, now } = found
  if (!assignment) throw notAssigned(reward, campaign.name)
  if (!card) throw notFound('voucher', request.name.code)
  checkValid(card, now)
  checkRunning(campaign, now)
  if (reward.stock === 0) throw outOfStock(reward)
  if (!customer) throw notFound('customer', card.holder_id ?? '')
  const bill = billFor(request, { reward, assignment, balance: card.balance })
  const id = newId(deps.random, ID_PREFIX.redemption)
  const exchanged = await exchange(deps, tx, { ...found, id, card, bill, request })
  const base = { campaign, reward, assignment, customer, order: bill.order }
  const redemption = redemptionRow(deps, request, { ...base, id, now, bill, ...exchanged })
  const done: Completed = { ...base, redemption, card: exchanged.card, granted: exchanged.granted }
  tx.sendWithCommit(record(deps, tx, request, { done, changes: exchanged.changes }))
  return done
}

/** Finds the card and the reward. An unknown card is reported before an unknown reward. */
async function findNamed(tx: Transaction, { name, rewardId }: RedemptionRequest) {
  const [{ campaign, card }, reward] = await Promise.all([
    requireCard(tx, name),
    findReward(tx, name.projectId, rewardId),
  ])
  if (!reward) throw notFound('reward', rewardId)
  return { campaign, card, reward }
}

type Named = Awaited<ReturnType<typeof findNamed>>

/**
 * Locks the assignment, so that neither it nor the reward is deleted meanwhile, the card that pays, and the card that
 * receives points from the reward; reads the rest. The time is read under the locks, so that entries of a card never go
 * back in time.
 */
async function lockCards(tx: Transaction, { rewardId }: RedemptionRequest, named: Named) {
  const { campaign, card, reward } = named
  const { project_id: projectId, holder_id: holderId } = card
  const target = await findTarget(tx, reward, holderId)
  const ids = [card.id, ...(target?.card ? [target.card.id] : [])]
  const [assignment, locked, customer, contents, now] = await Promise.all([
    lockAssignment(tx, { project_id: projectId, reward_id: rewardId, campaign_id: campaign.id }),
    lockVouchers(tx, projectId, ids),
    holderId === null ? undefined : findCustomerById(tx, projectId, holderId),
    findContents(tx, reward),
    tx.now(),
  ])
  return {
    campaign,
    reward,
    assignment,
    customer,
    contents,
    now,
    card: locked.get(card.id),
    target: target && { ...target, card: target.card && locked.get(target.card.id) },
  }
}

interface Exchange {
  readonly id: string
  readonly now: number
  readonly card: VoucherRow
  readonly contents: Contents
  readonly target: Target | undefined
  readonly bill: Bill
  readonly reward: RewardRow
  readonly request: RedemptionRequest
}

/** Takes the points and grants the reward. Point changes are computed here and written later. */
async function exchange(deps: Deps, tx: Transaction, exchange: Exchange) {
  const { id, now, card, contents, target, bill, reward, request } = exchange
  const { requestId } = request
  const points = 0 - bill.points
  const change = { type: 'POINTS_REDEMPTION', points, requestId, redemptionId: id, reward } as const
  const spent = withPointsChanged(deps, { card, change, now })
  // A reward may add points to the card that pays for it.
  const isOwn = target?.card?.id === card.id
  const given = await grantReward(deps, tx, {
    reward,
    contents,
    target: isOwn ? { ...target, card: spent.card } : target,
    holderId: card.holder_id!,
    redemptionId: id,
    requestId,
    now,
  })
  return {
    card: isOwn ? given.changed!.card : spent.card,
    granted: given.shown,
    voucherId: given.voucherId,
    changes: given.changed ? [spent, given.changed] : [spent],
  }
}

interface Settled extends Omit<Completed, 'redemption' | 'granted'> {
  readonly id: string
  readonly now: number
  readonly bill: Bill
  readonly voucherId: string | null
}

const redemptionRow = (
  { random }: Deps,
  { metadata }: RedemptionRequest,
  { id, now, card, campaign, reward, assignment, bill, customer, voucherId }: Settled,
): Completed['redemption'] => ({
  project_id: card.project_id,
  id,
  reward_redemption_id: newId(random, ID_PREFIX.reward_redemption),
  voucher_id: card.id,
  campaign_id: campaign.id,
  customer_id: customer.id,
  reward_id: reward.id,
  reward_assignment_id: assignment.id,
  points: bill.points,
  order: bill.order && JSON.stringify(bill.order),
  metadata: metadataText(metadata),
  issued_voucher_id: voucherId,
  created_at: now,
})

/** Writes all rows together, the stock last. */
async function record(
  deps: Deps,
  tx: Transaction,
  { apiKey, requestId, traceparent }: RedemptionRequest,
  { done, changes }: { done: Completed; changes: readonly ChangedCard[] },
): Promise<void> {
  const { redemption, reward } = done
  const eventId = newEventId(deps.random, redemption.created_at)
  const event = {
    id: eventId,
    projectId: redemption.project_id,
    kind: REWARD_REDEMPTION_COMPLETED,
    entityId: done.customer.id,
    campaignId: done.campaign.id,
    groupId: requestId,
    traceparent,
    source: { channel: 'API', apiKey },
    data: redemptionEvent(done),
    now: redemption.created_at,
  } as const
  await Promise.all([
    ...changes.map((change) => writePoints(tx, change)),
    writeEvent(deps, tx, event),
    insertRedemption(tx, { ...redemption, event_id: eventId }),
    takeOne(tx, reward).catch((error) => {
      throw isOutOfStock(error) ? outOfStock(reward) : error
    }),
  ])
}

/** `takeOne` sets this column to NULL if the stock is empty. */
const isOutOfStock = (error: unknown): boolean =>
  error instanceof NotNullViolation && error.message.includes('redeemed')

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
