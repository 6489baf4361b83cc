import type { Reader } from '../../platform/database/index.ts'
import { countAssignmentsOf } from './assignment.store.ts'
import { countRewardsFor } from './reward.store.ts'

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

/** Describes what rewards still need a campaign for. */
export async function usesOfCampaign(
  reader: Reader,
  projectId: string,
  campaignId: string,
): Promise<string[]> {
  const assignments = await countAssignmentsOf(reader, projectId, { campaignId })
  const rewards = await countRewardsFor(reader, projectId, campaignId)
  return [
    ...(assignments > 0 ? [plural(assignments, 'assigned reward')] : []),
    ...(rewards > 0
      ? [`${plural(rewards, 'reward')} that ${rewards === 1 ? 'issues' : 'issue'} its vouchers`]
      : []),
  ]
}
