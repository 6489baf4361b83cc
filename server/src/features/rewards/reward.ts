import { isoTime, isoTimeOrNull } from '../../platform/http/index.ts'
import type { CampaignType } from '../campaigns/index.ts'
import type { RewardRow } from './reward.store.ts'

/** Exactly one of these is present, depending on the reward type. */
export interface RewardParameters {
  readonly campaign?: { readonly id: string; readonly balance?: number; readonly type: CampaignType }
  /** `points_ratio` points are worth `exchange_ratio`, in the currency's main unit. */
  readonly coin?: { readonly exchange_ratio: number; readonly points_ratio: number }
  readonly product?: { readonly id: string; readonly sku_id: null }
}

export const parametersOf = (row: RewardRow): RewardParameters => JSON.parse(row.parameters)

/** Short form of a reward in events. */
export const simpleRewardView = (row: RewardRow) => ({
  id: row.id,
  name: row.name,
  type: row.type,
  parameters: parametersOf(row),
  metadata: JSON.parse(row.metadata) as object,
  created_at: isoTime(row.created_at),
  updated_at: isoTimeOrNull(row.updated_at),
  object: 'reward' as const,
})

export const rewardView = (row: RewardRow) => ({
  ...simpleRewardView(row),
  stock: row.stock,
  redeemed: row.redeemed,
  attributes: row.attributes === null ? null : (JSON.parse(row.attributes) as object),
})
