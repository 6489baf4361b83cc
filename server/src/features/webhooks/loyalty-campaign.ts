import { notFound, Problem } from '../../contract/problem.ts'
import type { Reader } from '../../platform/database/index.ts'
import { findCampaign } from '../campaigns/index.ts'

/** The id of a loyalty campaign of the project, by its id or name: what a distribution belongs to. */
export async function loyaltyCampaignId(
  reader: Reader,
  projectId: string,
  idOrName: string,
): Promise<string> {
  const campaign = await findCampaign(reader, projectId, idOrName)
  if (!campaign) throw notFound('campaign', idOrName)
  if (campaign.campaign_type === 'LOYALTY_PROGRAM') return campaign.id
  throw new Problem('invalid_payload', {
    message: `campaign_id must be that of a loyalty campaign; ${JSON.stringify(campaign.name)} is ${campaign.campaign_type}.`,
    details: 'Rewards are redeemed in loyalty campaigns. For all events of the project create a webhook.',
    resource: { type: 'campaign', id: campaign.id },
  })
}
