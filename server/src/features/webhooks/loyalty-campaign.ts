import { notFound, Problem } from '../../contract/problem.ts'
import type { Reader } from '../../platform/database/index.ts'
import { findCampaign } from '../campaigns/index.ts'

/** Finds the loyalty campaign of a distribution by id or name, and returns its id. */
export async function loyaltyCampaignId(
  reader: Reader,
  projectId: string,
  idOrName: string,
): Promise<string> {
  const campaign = await findCampaign(reader, projectId, idOrName)
  if (!campaign) throw notFound('campaign', idOrName)
  if (campaign.campaign_type === 'LOYALTY_PROGRAM') return campaign.id
  throw new Problem('invalid_payload', {
    message: `campaign_id must name a loyalty campaign, but ${JSON.stringify(campaign.name)} has type ${campaign.campaign_type}.`,
    details:
      'Rewards are redeemed in loyalty campaigns. To receive all events of the project, create a webhook.',
    resource: { type: 'campaign', id: campaign.id },
  })
}
