import { Type } from 'typebox'
import type { Database } from '../../platform/database/index.ts'
import {
  type App,
  IdParam,
  metadataField,
  namedList,
  namedListOf,
  PageQuery,
  pageOf,
  shownAs,
} from '../../platform/http/index.ts'
import type { RandomBytes } from '../../platform/secrets.ts'
import { customerFields } from '../customers/index.ts'
import { addMember, type NewMember } from './add-member.ts'
import { CodeField } from './code.ts'
import { requireCard } from './require-card.ts'
import { requireCampaign } from './save-campaign.ts'
import { listVoucherRows } from './voucher.store.ts'
import { Voucher, voucherView } from './voucher.ts'

interface Deps {
  readonly db: Database
  readonly random: RandomBytes
}

const Customer = Type.Unsafe<NewMember['customer']>({
  description: 'An id, a source_id, or the fields of a customer.',
  type: ['string', 'object'],
  minLength: 1,
  maxLength: 300,
  minProperties: 1,
  properties: { id: IdParam, ...customerFields },
})

/** Every member path exists with and without the campaign. `memberId` is the code of the card. */
export const MEMBER_PATHS = [
  { path: '/v1/loyalties/:campaignId/members/:memberId', suffix: '' },
  { path: '/v1/loyalties/members/:memberId', suffix: '-by-code' },
] as const

export const MemberParams = Type.Object({ campaignId: Type.Optional(IdParam), memberId: IdParam })

export const cardNameOf = (projectId: string, params: { campaignId?: string; memberId: string }) => ({
  projectId,
  campaign: params.campaignId,
  code: params.memberId,
})

export function memberRoutes(app: App, deps: Deps): void {
  const config = { access: 'scope' } as const
  const tags = ['members']
  const CampaignParams = Type.Object({ campaignId: IdParam })

  app.post(
    '/v1/loyalties/:campaignId/members',
    {
      config,
      schema: {
        tags,
        operationId: 'member.create',
        summary: 'Add a member: issue a loyalty card to a customer',
        description: 'With `join_once` (the default) a customer who joins again gets the same card.',
        params: CampaignParams,
        body: Type.Object({ customer: Customer, voucher: Type.Optional(CodeField), metadata: metadataField }),
        response: { 200: shownAs(Voucher) },
      },
    },
    async ({ projectId, params, body, id: requestId }) => {
      const campaign = { projectId, idOrName: params.campaignId, type: 'LOYALTY_PROGRAM' as const }
      const { customer, voucher: code, metadata } = body
      const request = { campaign, customer, code, metadata, requestId }
      const made = await deps.db.transaction((tx) => addMember(deps, tx, request))
      return voucherView(made.card, made.campaign)
    },
  )

  app.get(
    '/v1/loyalties/:campaignId/members',
    {
      config,
      schema: {
        tags,
        operationId: 'member.list',
        summary: 'List the members of a campaign, newest first',
        params: CampaignParams,
        querystring: Type.Object(PageQuery),
        response: { 200: namedListOf('vouchers', Voucher) },
        'x-columns': ['code', 'campaign', 'holder_id', 'loyalty_card.balance', 'active', 'created_at'],
      },
    },
    async ({ projectId, params, query }) => {
      const page = pageOf(query)
      const name = { projectId, idOrName: params.campaignId, type: 'LOYALTY_PROGRAM' as const }
      const campaign = await requireCampaign(deps.db, name)
      const rows = await listVoucherRows(deps.db, { projectId, campaignId: campaign.id }, page)
      return namedList('vouchers', rows, { page, item: (row) => voucherView(row, campaign) })
    },
  )

  for (const { path, suffix } of MEMBER_PATHS)
    app.get(
      path,
      {
        config,
        schema: {
          tags,
          operationId: `member.show${suffix}`,
          summary: 'Read a member: the loyalty card',
          params: MemberParams,
          response: { 200: shownAs(Voucher) },
        },
      },
      async ({ projectId, params }) => {
        const { card, campaign } = await requireCard(deps.db, cardNameOf(projectId, params))
        return voucherView(card, campaign)
      },
    )
}
