import { ID_PREFIX } from '../../contract/ids.ts'
import { notFound, Problem } from '../../contract/problem.ts'
import type { Reader, Transaction } from '../../platform/database/index.ts'
import { newId, type RandomBytes } from '../../platform/secrets.ts'
import { requireLockedCampaign } from '../campaigns/index.ts'
import {
  type AssignmentRow,
  deleteAssignmentRow,
  findAssignment,
  insertAssignment,
  type Owner,
  updateAssignmentRow,
} from './assignment.store.ts'
import type { RewardRow } from './reward.store.ts'
import { requireLockedReward, requireReward } from './save-reward.ts'

export interface SentPrice {
  readonly loyalty?: { readonly points?: number | undefined } | undefined
}

/** COIN has no fixed price: the customer chooses how many points to spend. */
function priceOf(reward: RewardRow, sent: SentPrice | null | undefined): number | null {
  if (reward.type === 'COIN') return null
  const points = sent?.loyalty?.points
  if (points !== undefined) return points
  throw new Problem('missing_parameters', {
    message: 'parameters.loyalty.points is missing.',
    details: 'Send the price of the reward in this campaign.',
  })
}

export interface NewAssignment {
  readonly projectId: string
  readonly rewardId: string
  readonly campaign: string
  readonly parameters?: SentPrice | null | undefined
}

/** Locks the campaign before the reward, like every other operation. */
export async function assignReward(
  { random }: { random: RandomBytes },
  tx: Transaction,
  { projectId, rewardId, campaign: idOrName, parameters }: NewAssignment,
): Promise<AssignmentRow> {
  await requireReward(tx, projectId, rewardId)
  const campaign = await requireLockedCampaign(tx, { projectId, idOrName, type: 'LOYALTY_PROGRAM' })
  const reward = await requireLockedReward(tx, projectId, rewardId)
  const row: AssignmentRow = {
    project_id: projectId,
    id: newId(random, ID_PREFIX.reward_assignment),
    reward_id: reward.id,
    campaign_id: campaign.id,
    points: priceOf(reward, parameters),
    created_at: await tx.now(),
    updated_at: null,
  }
  if (!(await insertAssignment(tx, row))) throw assigned(reward, campaign.name)
  return row
}

export interface AssignmentName {
  readonly projectId: string
  readonly owner: Owner
  readonly id: string
}

export async function requireAssignment(
  reader: Reader,
  { projectId, owner, id }: AssignmentName,
): Promise<AssignmentRow> {
  const row = await findAssignment(reader, projectId, { owner, id })
  if (!row) throw notFound('reward_assignment', id)
  return row
}

export async function changePrice(
  tx: Transaction,
  name: AssignmentName,
  parameters: SentPrice | null | undefined,
): Promise<AssignmentRow> {
  const { reward_id } = await requireAssignment(tx, name)
  const reward = await requireLockedReward(tx, name.projectId, reward_id)
  const before = await requireAssignment(tx, name)
  const points = parameters?.loyalty?.points === undefined ? before.points : priceOf(reward, parameters)
  const change = { points, updated_at: await tx.now() }
  await updateAssignmentRow(tx, before, change)
  return { ...before, ...change }
}

export async function unassignReward(tx: Transaction, name: AssignmentName): Promise<void> {
  await deleteAssignmentRow(tx, await requireAssignment(tx, name))
}

const assigned = (reward: RewardRow, campaign: string): Problem =>
  new Problem('duplicate_found', {
    message: `The reward ${JSON.stringify(reward.name)} is already assigned to ${JSON.stringify(campaign)}.`,
    details: 'To change the price, update the existing assignment. Nothing was changed.',
    resource: { type: 'reward', id: reward.id },
  })
