import { Type } from 'typebox'
import type { Database, Reader, Transaction } from '../../platform/database/index.ts'
import {
  type App,
  countField,
  IdParam,
  Nothing,
  NullableText,
  namedList,
  namedListOf,
  PageQuery,
  pageOf,
  shownAs,
} from '../../platform/http/index.ts'
import type { RandomBytes } from '../../platform/secrets.ts'
import { requireCampaign } from '../campaigns/index.ts'
import {
  assignReward,
  changePrice,
  requireAssignment,
  type SentPrice,
  unassignReward,
} from './assign-reward.ts'
import { type AssignmentRow, listAssignmentRows, type Owner } from './assignment.store.ts'
import { assignmentView } from './assignment.ts'
import { requireReward } from './save-reward.ts'

interface Deps {
  readonly db: Database
  readonly random: RandomBytes
}

export const Assignment = Type.Object({
  id: Type.String(),
  reward_id: Type.String(),
  related_object_id: Type.String(),
  related_object_type: Type.Literal('campaign'),
  parameters: Type.Any({ description: 'loyalty.points: the price. Null for COIN.' }),
  created_at: Type.String(),
  updated_at: NullableText,
  object: Type.Literal('reward_assignment'),
})

const Price = Type.Optional(
  Type.Unsafe<SentPrice | null>({
    type: ['object', 'null'],
    properties: { loyalty: { type: 'object', properties: { points: countField() } } },
  }),
)

/** Assignments can be reached through the reward and through the campaign. */
export function assignmentRoutes(app: App, deps: Deps): void {
  addCreation(app, deps)
  addRoutes(app, deps, {
    path: '/v1/rewards/:rewardId/assignments',
    param: 'rewardId',
    suffix: '',
    ownerOf: async (reader, projectId, id) => ({ rewardId: (await requireReward(reader, projectId, id)).id }),
  })
  addRoutes(app, deps, {
    path: '/v1/loyalties/:campaignId/rewards',
    param: 'campaignId',
    suffix: '-of-campaign',
    ownerOf: async (reader, projectId, idOrName) => {
      const name = { projectId, idOrName, type: 'LOYALTY_PROGRAM' as const }
      return { campaignId: (await requireCampaign(reader, name)).id }
    },
  })
}

function addCreation(app: App, deps: Deps): void {
  const config = { access: 'scope' } as const
  const tags = ['rewards']

  app.post(
    '/v1/rewards/:rewardId/assignments',
    {
      config,
      schema: {
        tags,
        operationId: 'assignment.create',
        summary: 'Offer a reward in a campaign, at a price',
        params: Type.Object({ rewardId: IdParam }),
        body: Type.Object({ campaign: IdParam, parameters: Price }),
        response: { 200: shownAs(Assignment) },
      },
    },
    async ({ projectId, params: { rewardId }, body: { campaign, parameters } }) => {
      const request = { projectId, rewardId, campaign, parameters }
      return assignmentView(await deps.db.transaction((tx) => assignReward(deps, tx, request)))
    },
  )

  app.post(
    '/v1/loyalties/:campaignId/rewards',
    {
      config,
      schema: {
        tags,
        operationId: 'assignment.create-of-campaign',
        summary: 'Offer several rewards in a campaign, all or none',
        params: Type.Object({ campaignId: IdParam }),
        body: Type.Array(Type.Object({ reward: IdParam, parameters: Price }), { minItems: 1, maxItems: 100 }),
        response: { 200: Type.Unsafe<object[]>(Type.Array(Assignment)) },
      },
    },
    async ({ projectId, params: { campaignId: campaign }, body }) => {
      const all = async (tx: Transaction) => {
        const rows: AssignmentRow[] = []
        for (const { reward: rewardId, parameters } of body)
          rows.push(await assignReward(deps, tx, { projectId, rewardId, campaign, parameters }))
        return rows
      }
      return (await deps.db.transaction(all)).map(assignmentView)
    },
  )
}

interface AssignmentParent {
  readonly path: string
  readonly param: 'rewardId' | 'campaignId'
  readonly suffix: string
  readonly ownerOf: (reader: Reader, projectId: string, id: string) => Promise<Owner>
}

function addRoutes(app: App, deps: Deps, { path, param, suffix, ownerOf }: AssignmentParent): void {
  const config = { access: 'scope' } as const
  const tags = ['rewards']
  const params = Type.Object({ [param]: IdParam, assignmentId: IdParam })
  const response = { 200: shownAs(Assignment) }
  const nameOf = async (reader: Reader, projectId: string, at: object) => {
    const { [param]: ownerId, assignmentId: id } = at as Record<string, string>
    return { projectId, owner: await ownerOf(reader, projectId, ownerId!), id: id! }
  }

  app.get(
    path,
    {
      config,
      schema: {
        tags,
        operationId: `assignment.list${suffix}`,
        summary: 'List assignments, newest first',
        params: Type.Object({ [param]: IdParam }),
        querystring: Type.Object(PageQuery),
        response: { 200: namedListOf('data', Assignment) },
      },
    },
    async ({ projectId, params: at, query }) => {
      const page = pageOf(query)
      const owner = await ownerOf(deps.db, projectId, (at as Record<string, string>)[param]!)
      const rows = await listAssignmentRows(deps.db, projectId, { owner, page })
      return namedList('data', rows, { page, item: assignmentView })
    },
  )

  app.get(
    `${path}/:assignmentId`,
    {
      config,
      schema: {
        tags,
        operationId: `assignment.show${suffix}`,
        summary: 'Read an assignment',
        params,
        response,
      },
    },
    async ({ projectId, params: at }) =>
      assignmentView(await requireAssignment(deps.db, await nameOf(deps.db, projectId, at as object))),
  )

  app.put(
    `${path}/:assignmentId`,
    {
      config,
      schema: {
        tags,
        operationId: `assignment.update${suffix}`,
        summary: 'Change the price of a reward in a campaign',
        params,
        body: Type.Object({ parameters: Price }),
        response,
      },
    },
    async ({ projectId, params: at, body }) =>
      assignmentView(
        await deps.db.transaction(async (tx) =>
          changePrice(tx, await nameOf(tx, projectId, at as object), body.parameters),
        ),
      ),
  )

  app.delete(
    `${path}/:assignmentId`,
    {
      config,
      schema: {
        tags,
        operationId: `assignment.delete${suffix}`,
        summary: 'Stop offering a reward in a campaign',
        params,
        response: { 204: Nothing },
      },
    },
    async ({ projectId, params: at }, reply) => {
      await deps.db.transaction(async (tx) => unassignReward(tx, await nameOf(tx, projectId, at as object)))
      return reply.code(204).send(null)
    },
  )
}
