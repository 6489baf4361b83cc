import { Type } from 'typebox'
import type { Database, Reader } from '../../platform/database/index.ts'
import {
  type App,
  countField,
  dateField,
  IdParam,
  longTextField,
  metadataField,
  NameField,
  Nothing,
  NullableText,
  namedList,
  namedListOf,
  PageQuery,
  pageOf,
  shownAs,
} from '../../platform/http/index.ts'
import type { RandomBytes } from '../../platform/secrets.ts'
import { CAMPAIGN_TYPES, type CampaignType, listCampaignRows } from './campaign.store.ts'
import { campaignView, type VoucherType, voucherRule } from './campaign.ts'
import { CodeConfigField } from './code.ts'
import { changeCampaign, createCampaign, deleteCampaign, requireCampaign } from './save-campaign.ts'

interface Deps {
  readonly db: Database
  readonly random: RandomBytes
  readonly usesOfCampaign: (reader: Reader, projectId: string, id: string) => Promise<readonly string[]>
}

export const Campaign = Type.Object({
  id: Type.String(),
  name: Type.String(),
  campaign_type: Type.String(),
  type: Type.String(),
  voucher: Type.Any({ description: 'Template of its vouchers: type, value and code_config.' }),
  auto_join: Type.Boolean(),
  join_once: Type.Boolean(),
  active: Type.Boolean(),
  category: NullableText,
  category_id: NullableText,
  metadata: Type.Any(),
  start_date: NullableText,
  expiration_date: NullableText,
  description: NullableText,
  created_at: Type.String(),
  updated_at: NullableText,
  vouchers_generation_status: Type.String(),
  object: Type.Literal('campaign'),
})

const oneOf = <T extends string>(values: readonly T[]) => Type.Unsafe<T>({ type: 'string', enum: values })

const changeable = {
  type: Type.Optional(oneOf(['AUTO_UPDATE', 'STATIC'])),
  auto_join: Type.Optional(Type.Boolean()),
  join_once: Type.Optional(Type.Boolean()),
  active: Type.Optional(Type.Boolean()),
  start_date: dateField,
  expiration_date: dateField,
  description: longTextField(2_000),
  metadata: metadataField,
}

const Discount = Type.Object({
  type: oneOf(['AMOUNT', 'PERCENT', 'FIXED', 'UNIT']),
  amount_off: Type.Optional(countField()),
  percent_off: Type.Optional(Type.Number({ minimum: 0, maximum: 100 })),
})

const voucherFields = {
  type: oneOf<VoucherType>(['LOYALTY_CARD', 'DISCOUNT_VOUCHER', 'GIFT_VOUCHER']),
  loyalty_card: Type.Optional(
    Type.Object({ points: countField({ description: 'Initial points of a new card.' }) }),
  ),
  discount: Type.Optional(Discount),
  gift: Type.Optional(Type.Object({ amount: countField() })),
  redemption: Type.Optional(
    Type.Object({
      quantity: Type.Optional(Type.Unsafe<number | null>({ type: ['integer', 'null'], minimum: 1 })),
    }),
  ),
  code_config: Type.Optional(CodeConfigField),
}

/** The voucher must match the campaign type, which comes from the path or from the body. */
const Voucher = Type.Object(voucherFields)
const LoyaltyVoucher = Type.Object(voucherFields, voucherRule('LOYALTY_PROGRAM'))
const fittingVoucher = {
  allOf: CAMPAIGN_TYPES.map((type) => ({
    if: { properties: { campaign_type: { const: type } }, required: ['campaign_type'] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { properties: { voucher: voucherRule(type) } },
  })),
}

/** Serves the same campaigns under two paths, like Voucherify. `/v1/loyalties` contains loyalty programs only. */
export function campaignRoutes(app: App, deps: Deps): void {
  addRoutes(app, deps, { path: '/v1/loyalties', noun: 'loyalty', only: 'LOYALTY_PROGRAM' })
  addRoutes(app, deps, { path: '/v1/campaigns', noun: 'campaign', only: undefined })
}

interface Kind {
  readonly path: string
  readonly noun: string
  readonly only: CampaignType | undefined
}

function addRoutes(app: App, deps: Deps, { path, noun, only }: Kind): void {
  const config = { access: 'scope' } as const
  const tags = ['campaigns']
  const what = only ? 'a loyalty campaign' : 'a campaign'
  const Params = Type.Object({ campaignId: IdParam })
  const response = { 200: shownAs(Campaign) }
  const nameIn = (projectId: string, { campaignId }: { campaignId: string }) => ({
    projectId,
    idOrName: campaignId,
    type: only,
  })

  app.post(
    path,
    {
      config,
      schema: {
        tags,
        operationId: `${noun}.create`,
        summary: `Create ${what}`,
        body: Type.Object(
          {
            name: NameField,
            ...(only ? {} : { campaign_type: oneOf<CampaignType>(CAMPAIGN_TYPES) }),
            voucher: only ? LoyaltyVoucher : Voucher,
            ...changeable,
          },
          only ? {} : fittingVoucher,
        ),
        response,
      },
    },
    async ({ projectId, body }) => {
      const sent = body as typeof body & { campaign_type: CampaignType }
      const fields = { ...sent, campaign_type: only ?? sent.campaign_type }
      return campaignView(await deps.db.transaction((tx) => createCampaign(deps, tx, { projectId, fields })))
    },
  )

  app.get(
    path,
    {
      config,
      schema: {
        tags,
        operationId: `${noun}.list`,
        summary: 'List campaigns, newest first',
        querystring: Type.Object({
          ...PageQuery,
          ...(only ? {} : { campaign_type: Type.Optional(oneOf<CampaignType>(CAMPAIGN_TYPES)) }),
        }),
        response: { 200: namedListOf('campaigns', Campaign) },
        'x-columns': ['id', 'name', 'campaign_type', 'active', 'created_at'],
      },
    },
    async ({ projectId, query }) => {
      const page = pageOf(query)
      const type = only ?? (query as { campaign_type?: CampaignType }).campaign_type
      const rows = await listCampaignRows(deps.db, projectId, { page, type })
      return namedList('campaigns', rows, { page, item: campaignView })
    },
  )

  app.get(
    `${path}/:campaignId`,
    {
      config,
      schema: {
        tags,
        operationId: `${noun}.show`,
        summary: `Read ${what}, by id or name`,
        params: Params,
        response,
      },
    },
    async ({ projectId, params }) =>
      campaignView(await requireCampaign(deps.db, nameIn(projectId, params as { campaignId: string }))),
  )

  app.put(
    `${path}/:campaignId`,
    {
      config,
      schema: {
        tags,
        operationId: `${noun}.update`,
        summary: `Change ${what}`,
        description:
          'Fields that are sent are replaced; omitted fields stay unchanged. `voucher` cannot be changed after creation.',
        params: Params,
        body: Type.Object({ name: Type.Optional(NameField), ...changeable }),
        response,
      },
    },
    async ({ projectId, params, body }) => {
      const name = nameIn(projectId, params as { campaignId: string })
      return campaignView(await deps.db.transaction((tx) => changeCampaign(tx, name, body)))
    },
  )

  app.delete(
    `${path}/:campaignId`,
    {
      config,
      schema: {
        tags,
        operationId: `${noun}.delete`,
        summary: `Delete ${what} that is not in use`,
        params: Params,
        response: { 204: Nothing },
      },
    },
    async ({ projectId, params }, reply) => {
      const name = nameIn(projectId, params as { campaignId: string })
      await deps.db.transaction((tx) => deleteCampaign(deps, tx, name))
      return reply.code(204).send(null)
    },
  )
}
