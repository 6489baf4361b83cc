import { Type } from 'typebox'
import { notFound } from '../../contract/problem.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Vault } from '../../platform/encryption.ts'
import {
  type App,
  filterField,
  forOperators,
  IdParam,
  listAnswer,
  listOf,
  PageQuery,
  pageOf,
  strict,
} from '../../platform/http/index.ts'
import {
  CAMPAIGN_TYPES,
  Campaign,
  type CampaignRow,
  campaignView,
  listCampaignRows,
} from '../campaigns/index.ts'
import { requireProject } from '../projects/index.ts'
import { HeadersField } from './destination.schemas.ts'
import { findDestination } from './destination.store.ts'
import { differingHeaders } from './extra-headers.ts'

interface Deps {
  readonly db: Database
  readonly vault: Vault
}

/** Reads that programs need to set up distributions: campaigns by name, and whether header values are up to date. */
export function distributionRoutes(app: App, deps: Deps): void {
  addCampaigns(app, deps)
  addComparison(app, deps)
}

function addCampaigns(app: App, { db }: Deps): void {
  app.get(
    '/management/v1/projects/:project_id/campaigns',
    {
      config: forOperators('viewer'),
      schema: {
        tags: ['distributions'],
        operationId: 'campaign.search',
        summary: 'Find campaigns of a project, newest first',
        description: 'Distributions name a loyalty campaign. API clients create campaigns under `/v1`.',
        params: Type.Object({ project_id: IdParam }),
        querystring: strict({
          ...PageQuery,
          name: filterField('Exact name.'),
          campaign_type: Type.Optional(
            Type.Unsafe<CampaignRow['campaign_type']>({ type: 'string', enum: [...CAMPAIGN_TYPES] }),
          ),
        }),
        response: { 200: listOf(Campaign) },
        'x-columns': ['id', 'name', 'campaign_type', 'active'],
      },
    },
    async ({ params, query }) => {
      const { id: projectId } = await requireProject(db, params.project_id)
      const page = pageOf(query)
      const { name, campaign_type: type } = query
      return listAnswer(await listCampaignRows(db, projectId, { page, name, type }), page, {
        item: campaignView,
      })
    },
  )
}

/** For editors only: who may compare can guess. An editor could also send the values to a receiver of its own. */
function addComparison(app: App, { db, vault }: Deps): void {
  app.post(
    '/management/v1/projects/:project_id/distributions/:distribution_id/compare-headers',
    {
      config: forOperators('editor'),
      schema: {
        tags: ['distributions'],
        operationId: 'distribution.compare-headers',
        summary: 'Compare header values with the stored ones',
        description: 'Changes nothing and shows no value. An empty list means that all are the same.',
        params: Type.Object({ project_id: IdParam, distribution_id: IdParam }),
        body: strict({ headers: HeadersField }, { examples: [{ headers: { 'x-tenant': 'club' } }] }),
        response: {
          200: Type.Object({
            object: Type.Literal('header_comparison'),
            different: Type.Array(Type.String(), {
              description: 'Names of headers whose values differ, or that only one side has.',
            }),
          }),
        },
      },
    },
    async ({ params, body }) => {
      const { id: projectId } = await requireProject(db, params.project_id)
      const which = { projectId, kind: 'distribution', id: params.distribution_id } as const
      const row = await findDestination(db, which)
      if (!row) throw notFound('distribution', which.id)
      return { object: 'header_comparison' as const, different: differingHeaders(vault, row, body.headers) }
    },
  )
}
