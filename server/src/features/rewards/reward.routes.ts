import { Type } from 'typebox'
import type { Database } from '../../platform/database/index.ts'
import {
  type App,
  countField,
  IdParam,
  metadataField,
  NameField,
  Nothing,
  NullableInteger,
  NullableText,
  namedList,
  namedListOf,
  nullable,
  PageQuery,
  pageOf,
  shownAs,
  textField,
} from '../../platform/http/index.ts'
import type { RandomBytes } from '../../platform/secrets.ts'
import { CAMPAIGN_TYPES } from '../campaigns/index.ts'
import { listRewardRows, REWARD_TYPES, type RewardType } from './reward.store.ts'
import { rewardView } from './reward.ts'
import {
  changeReward,
  createReward,
  deleteReward,
  PARAMETER_OF,
  requireReward,
  type SentParameters,
} from './save-reward.ts'

interface Deps {
  readonly db: Database
  readonly random: RandomBytes
}

export const Reward = Type.Object({
  id: Type.String(),
  name: Type.String(),
  type: Type.String(),
  parameters: Type.Any({ description: 'The product, the campaign, or the ratio of points to money.' }),
  metadata: Type.Any(),
  created_at: Type.String(),
  updated_at: NullableText,
  stock: NullableInteger,
  redeemed: Type.Integer(),
  attributes: Type.Any(),
  object: Type.Literal('reward'),
})

const parameterFields = {
  campaign: Type.Optional(
    Type.Object({
      id: IdParam,
      balance: Type.Optional(
        Type.Unsafe<number | null>({
          type: ['integer', 'null'],
          minimum: 1,
          maximum: Number.MAX_SAFE_INTEGER,
        }),
      ),
      type: Type.Optional(nullable<string>('string', { enum: [...CAMPAIGN_TYPES, null] })),
    }),
  ),
  coin: Type.Optional(
    Type.Object({
      exchange_ratio: Type.Number({
        minimum: 0.01,
        maximum: 1_000_000,
        // Whole cents only. A finer ratio would be lost to rounding.
        multipleOf: 0.01,
        'x-says':
          'must be 0.01 to 1000000, with at most two decimals; for a smaller value raise points_ratio, for example 1000 points for 0.01',
      }),
      points_ratio: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000_000 })),
    }),
  ),
  product: Type.Optional(
    Type.Object({ id: IdParam, sku_id: Type.Optional(NullableText), sku: Type.Optional(NullableText) }),
  ),
}

const Parameters = Type.Unsafe<SentParameters>(Type.Object(parameterFields))
const ChangedParameters = Type.Unsafe<SentParameters>(
  Type.Object(parameterFields, {
    anyOf: Object.values(PARAMETER_OF).map((field) => ({ required: [field] })),
    'x-says': 'must contain campaign, coin or product',
    'x-key': 'missing_parameters',
  }),
)

/** Each reward type requires its own parameter. */
const fittingParameters = {
  allOf: REWARD_TYPES.map((type) => ({
    if: { properties: { type: { const: type } }, required: ['type'] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { properties: { parameters: { required: [PARAMETER_OF[type]] } } },
  })),
}

const optional = {
  stock: Type.Optional(
    Type.Unsafe<number | null>({
      ...countField(),
      type: ['integer', 'null'],
      description: 'Remaining quantity; null means unlimited.',
    }),
  ),
  attributes: Type.Optional(
    Type.Unsafe<{ image_url?: string | null; description?: string | null } | null>({
      type: ['object', 'null'],
      properties: { image_url: textField(2_000), description: textField(2_000) },
    }),
  ),
  metadata: metadataField,
}
const Params = Type.Object({ rewardId: IdParam })

/** Keeps only the attributes that the schema validates. */
const known = <T extends { attributes?: { image_url?: string | null; description?: string | null } | null }>(
  body: T,
): T =>
  body.attributes
    ? {
        ...body,
        attributes: {
          image_url: body.attributes.image_url ?? null,
          description: body.attributes.description ?? null,
        },
      }
    : body

export function rewardRoutes(app: App, deps: Deps): void {
  const config = { access: 'scope' } as const
  const tags = ['rewards']
  const response = { 200: shownAs(Reward) }

  app.post(
    '/v1/rewards',
    {
      config,
      schema: {
        tags,
        operationId: 'reward.create',
        summary: 'Create a reward',
        body: Type.Object(
          {
            name: NameField,
            type: Type.Unsafe<RewardType>({ type: 'string', enum: REWARD_TYPES }),
            parameters: Parameters,
            ...optional,
          },
          fittingParameters,
        ),
        response,
      },
    },
    async ({ projectId, body }) =>
      rewardView(
        await deps.db.transaction((tx) => createReward(deps, tx, { projectId, fields: known(body) })),
      ),
  )

  app.get(
    '/v1/rewards',
    {
      config,
      schema: {
        tags,
        operationId: 'reward.list',
        summary: 'List rewards, newest first',
        querystring: Type.Object(PageQuery),
        response: { 200: namedListOf('data', Reward) },
        'x-columns': ['id', 'name', 'type', 'stock', 'redeemed', 'created_at'],
      },
    },
    async ({ projectId, query }) => {
      const page = pageOf(query)
      return namedList('data', await listRewardRows(deps.db, projectId, page), { page, item: rewardView })
    },
  )

  app.get(
    '/v1/rewards/:rewardId',
    {
      config,
      schema: { tags, operationId: 'reward.show', summary: 'Read a reward', params: Params, response },
    },
    async ({ projectId, params }) => rewardView(await requireReward(deps.db, projectId, params.rewardId)),
  )

  app.put(
    '/v1/rewards/:rewardId',
    {
      config,
      schema: {
        tags,
        operationId: 'reward.update',
        summary: 'Change a reward',
        description: 'Fields that are sent are replaced; omitted fields and the type stay unchanged.',
        params: Params,
        body: Type.Object({
          name: Type.Optional(NameField),
          parameters: Type.Optional(ChangedParameters),
          ...optional,
        }),
        response,
      },
    },
    async ({ projectId, params: { rewardId: id }, body }) =>
      rewardView(await deps.db.transaction((tx) => changeReward(tx, { projectId, id }, known(body)))),
  )

  app.delete(
    '/v1/rewards/:rewardId',
    {
      config,
      schema: {
        tags,
        operationId: 'reward.delete',
        summary: 'Delete a reward that is not assigned',
        params: Params,
        response: { 204: Nothing },
      },
    },
    async ({ projectId, params }, reply) => {
      await deps.db.transaction((tx) => deleteReward(tx, projectId, params.rewardId))
      return reply.code(204).send(null)
    },
  )
}
