import { ID_PREFIX } from '../../contract/ids.ts'
import { notFound, Problem } from '../../contract/problem.ts'
import type { Reader, Transaction } from '../../platform/database/index.ts'
import { given, type Metadata, metadataText } from '../../platform/http/index.ts'
import { newId, type RandomBytes } from '../../platform/secrets.ts'
import { requireLockedCampaign } from '../campaigns/index.ts'
import { countAssignmentsOf } from './assignment.store.ts'
import {
  deleteRewardRow,
  findReward,
  insertReward,
  lockReward,
  type RewardRow,
  type RewardType,
  updateRewardRow,
} from './reward.store.ts'
import type { RewardParameters } from './reward.ts'
import { requireLockedProduct } from './save-product.ts'

export interface SentParameters {
  readonly campaign?: { readonly id: string; readonly balance?: number | null; readonly type?: string | null }
  readonly coin?: { readonly exchange_ratio: number; readonly points_ratio?: number }
  readonly product?: { readonly id: string; readonly sku_id?: string | null; readonly sku?: string | null }
}

export interface RewardFields {
  readonly name?: string | undefined
  readonly parameters?: SentParameters | undefined
  readonly stock?: number | null | undefined
  readonly attributes?: object | null | undefined
  readonly metadata?: Metadata | null | undefined
}

export interface NewReward extends RewardFields {
  readonly name: string
  readonly type: RewardType
  readonly parameters: SentParameters
}

export async function requireReward(reader: Reader, projectId: string, id: string): Promise<RewardRow> {
  const row = await findReward(reader, projectId, id)
  if (!row) throw notFound('reward', id)
  return row
}

export async function requireLockedReward(
  tx: Transaction,
  projectId: string,
  id: string,
): Promise<RewardRow> {
  const row = await lockReward(tx, projectId, id)
  if (!row) throw notFound('reward', id)
  return row
}

export async function createReward(
  { random }: { random: RandomBytes },
  tx: Transaction,
  { projectId, fields }: { projectId: string; fields: NewReward },
): Promise<RewardRow> {
  const row: RewardRow = {
    project_id: projectId,
    id: newId(random, ID_PREFIX.reward),
    name: fields.name,
    type: fields.type,
    ...(await partsOf(tx, { projectId, type: fields.type, sent: fields.parameters })),
    stock: null,
    redeemed: 0,
    attributes: null,
    metadata: '{}',
    created_at: await tx.now(),
    updated_at: null,
    ...columnsOf(fields),
  }
  await insertReward(tx, row)
  return row
}

/** Replaces the fields that are sent. The type never changes. */
export async function changeReward(
  tx: Transaction,
  { projectId, id }: { projectId: string; id: string },
  fields: RewardFields,
): Promise<RewardRow> {
  // The type never changes, so it can be read before the lock: the product or campaign is locked before the reward.
  const { type } = await requireReward(tx, projectId, id)
  const parts = fields.parameters && (await partsOf(tx, { projectId, type, sent: fields.parameters }))
  const before = await requireLockedReward(tx, projectId, id)
  const change = { ...columnsOf(fields), ...parts, updated_at: await tx.now() }
  await updateRewardRow(tx, before, change)
  return { ...before, ...change }
}

export async function deleteReward(tx: Transaction, projectId: string, id: string): Promise<void> {
  const row = await requireLockedReward(tx, projectId, id)
  const assignments = await countAssignmentsOf(tx, projectId, { rewardId: id })
  if (assignments > 0)
    throw new Problem('resource_in_use', {
      message: `The reward ${JSON.stringify(row.name)} is assigned to ${assignments === 1 ? 'a campaign' : `${assignments} campaigns`}.`,
      details: 'Delete its assignments first. Nothing was deleted.',
      resource: { type: 'reward', id },
    })
  await deleteRewardRow(tx, row)
}

function columnsOf(fields: RewardFields): Partial<RewardRow> {
  const columns: Partial<RewardRow> = given(fields, ['name', 'stock'])
  if (fields.attributes !== undefined)
    columns.attributes = fields.attributes && JSON.stringify(fields.attributes)
  if (fields.metadata !== undefined) columns.metadata = metadataText(fields.metadata)
  return columns
}

type Parts = Pick<RewardRow, 'parameters' | 'target_id'>

interface SentParts {
  readonly projectId: string
  readonly type: RewardType
  readonly sent: SentParameters
}

export const PARAMETER_OF = { MATERIAL: 'product', COIN: 'coin', CAMPAIGN: 'campaign' } as const

/** Validates the parameter of the reward type and locks its product or campaign, so that it cannot be deleted. */
async function partsOf(tx: Transaction, { projectId, type, sent }: SentParts): Promise<Parts> {
  const field = PARAMETER_OF[type]
  if (sent[field] === undefined)
    throw new Problem('missing_parameters', {
      message: `parameters.${field} is missing.`,
      details: `A reward of type ${type} needs it; the API reference at /docs shows every field.`,
    })
  if (type === 'COIN') return asParts({ coin: coinOf(sent.coin!) }, null)
  if (type === 'MATERIAL') return productParts(tx, projectId, sent.product!)
  return campaignParts(tx, projectId, sent.campaign!)
}

const asParts = (parameters: RewardParameters, target_id: string | null): Parts => ({
  parameters: JSON.stringify(parameters),
  target_id,
})

const coinOf = ({ exchange_ratio, points_ratio = 1 }: NonNullable<SentParameters['coin']>) => ({
  exchange_ratio,
  points_ratio,
})

async function productParts(
  tx: Transaction,
  projectId: string,
  { id, sku_id, sku }: NonNullable<SentParameters['product']>,
): Promise<Parts> {
  const skuId = sku_id ?? sku
  const product = await requireLockedProduct(tx, { projectId, id })
  if (skuId) throw notFound('sku', skuId)
  return asParts({ product: { id: product.id, sku_id: null } }, product.id)
}

async function campaignParts(
  tx: Transaction,
  projectId: string,
  { id, balance, type }: NonNullable<SentParameters['campaign']>,
): Promise<Parts> {
  const campaign = await requireLockedCampaign(tx, { projectId, idOrName: id })
  if (type && type !== campaign.campaign_type)
    throw new Problem('invalid_payload', {
      message: `parameters.campaign.type is ${type}, but the campaign has type ${campaign.campaign_type}.`,
      details: 'Omit the type: it follows from the campaign.',
      resource: { type: 'campaign', id: campaign.id },
    })
  const worth = typeof balance === 'number' ? { balance } : {}
  return asParts({ campaign: { id: campaign.id, ...worth, type: campaign.campaign_type } }, campaign.id)
}
