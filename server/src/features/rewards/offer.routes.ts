import { Type } from 'typebox'
import type { Database } from '../../platform/database/index.ts'
import { type App, namedList, namedListOf, PageQuery, pageOf } from '../../platform/http/index.ts'
import { cardNameOf, MEMBER_PATHS, MemberParams, requireCard } from '../campaigns/index.ts'
import { Assignment } from './assignment.routes.ts'
import { listOffers, type Offer } from './assignment.store.ts'
import { assignmentView } from './assignment.ts'
import { Reward } from './reward.routes.ts'
import { rewardView } from './reward.ts'

const offerView = ({ reward, assignment }: Offer) => ({
  reward: rewardView(reward),
  assignment: assignmentView(assignment),
  object: 'loyalty_reward' as const,
})

const LoyaltyReward = Type.Object({
  reward: Reward,
  assignment: Assignment,
  object: Type.Literal('loyalty_reward'),
})

/** Rewards that a member can get. */
export function offerRoutes(app: App, { db }: { readonly db: Database }): void {
  for (const { path, suffix } of MEMBER_PATHS)
    app.get(
      `${path}/rewards`,
      {
        config: { access: 'scope' },
        schema: {
          tags: ['members'],
          operationId: `member.rewards${suffix}`,
          summary: 'List the rewards that a member can get, newest first',
          params: MemberParams,
          querystring: Type.Object({
            ...PageQuery,
            affordable_only: Type.Optional(
              Type.Boolean({ description: 'Only rewards that are in stock and that the card can buy now.' }),
            ),
          }),
          response: { 200: namedListOf('data', LoyaltyReward) },
        },
      },
      async ({ projectId, params, query }) => {
        const page = pageOf(query)
        const { card, campaign } = await requireCard(db, cardNameOf(projectId, params))
        const balance = query.affordable_only ? card.balance : undefined
        const offers = await listOffers(db, { projectId, campaignId: campaign.id, balance }, page)
        return namedList('data', offers, { page, item: offerView })
      },
    )
}
