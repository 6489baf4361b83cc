import { type TProperties, Type } from 'typebox'
import { notFound } from '../../contract/problem.ts'
import type { Actor } from '../../platform/http/index.ts'
import {
  type App,
  filterField,
  forOperators,
  IdParam,
  listAnswer,
  listOf,
  Nothing,
  PageQuery,
  pageOf,
  strict,
  UniqueNameQuery,
} from '../../platform/http/index.ts'
import { requireProject } from '../projects/index.ts'
import type { DestinationRequest } from './change-destination.ts'
import { createDestination, type DestinationDeps } from './create-destination.ts'
import { Creation, Replacement, Shown, ShownWithSecret } from './destination.schemas.ts'
import {
  type DestinationKind,
  type DestinationRow,
  findDestination,
  listDestinationRows,
} from './destination.store.ts'
import { type DestinationFields, destinationView } from './destination.ts'
import {
  deleteDestination,
  disableDestination,
  enableDestination,
  rotateSecret,
  updateDestination,
} from './destination-changes.ts'

/** Gives receivers a day to deploy the new secret. */
const DEFAULT_OVERLAP_SECONDS = 86_400
const MAX_OVERLAP_SECONDS = 7 * 86_400

const COLUMNS: Readonly<Record<DestinationKind, readonly string[]>> = {
  webhook: ['id', 'name', 'target_url', 'events', 'active', 'disabled_reason', 'created_at'],
  distribution: ['id', 'name', 'campaign_id', 'target_url', 'active', 'disabled_reason', 'created_at'],
}

const SUBSCRIPTION = {
  target_url: 'https://hooks.example.com/jeton',
  events: ['customer.reward_redemptions.completed'],
}
const EXAMPLE: Readonly<Record<DestinationKind, object>> = {
  webhook: { name: 'crm', ...SUBSCRIPTION },
  distribution: { name: 'Redeemed', campaign_id: '$CAMPAIGN_ID', ...SUBSCRIPTION },
}

/** Project webhooks and distributions have different fields but the same operations. */
interface Deps extends DestinationDeps {
  /** Health of destinations of one project, by their id. */
  readonly readHealth: (rows: readonly DestinationRow[]) => Promise<ReadonlyMap<string, object>>
}

export function destinationRoutes(app: App, deps: Deps): void {
  routesOf(app, deps, 'webhook')
  routesOf(app, deps, 'distribution')
}

/** One type with the fields of both kinds. The schema of each kind decides which of them it accepts. */
const bodyOf = <Fields>(properties: TProperties, rules?: object) =>
  Type.Unsafe<Fields>(strict(properties, rules))

function routesOf(app: App, deps: Deps, kind: DestinationKind): void {
  const tags = [`${kind}s`]
  const path = `/management/v1/projects/:project_id/${kind}s`
  const ownPath = `${path}/:${kind}_id`
  const ProjectParams = Type.Object({ project_id: IdParam })
  const Params = Type.Object({ project_id: IdParam, [`${kind}_id`]: IdParam })

  const asked = (request: { params: unknown; actor: Actor }): DestinationRequest => {
    const params = request.params as Record<string, string>
    return { projectId: params.project_id!, kind, id: params[`${kind}_id`]!, actor: request.actor }
  }

  const shown = async (row: DestinationRow) => ({
    ...destinationView(row),
    health: (await deps.readHealth([row])).get(row.id),
  })

  app.get(
    path,
    {
      config: forOperators('viewer'),
      schema: {
        tags,
        operationId: `${kind}.list`,
        summary: `List the ${kind}s of a project, newest first`,
        params: ProjectParams,
        querystring: strict({
          ...PageQuery,
          active: Type.Optional(Type.Boolean()),
          name: filterField('Exact name.'),
          ...(kind === 'distribution' && { campaign: filterField('Id of the loyalty campaign.') }),
        }),
        response: { 200: listOf(Shown[kind]) },
        'x-columns': COLUMNS[kind],
      },
    },
    async (request) => {
      const { id: projectId } = await requireProject(deps.db, request.params.project_id)
      const page = pageOf(request.query)
      const { campaign, ...filter } = request.query as { active?: boolean; name?: string; campaign?: string }
      const rows = await listDestinationRows(
        deps.db,
        { projectId, kind, ...filter, campaignId: campaign },
        page,
      )
      const health = await deps.readHealth(rows.rows.slice(0, page.limit))
      const item = (row: DestinationRow) => ({ ...destinationView(row), health: health.get(row.id) })
      return listAnswer(rows, page, { item }) as never
    },
  )
  app.post(
    path,
    {
      config: forOperators('editor'),
      schema: {
        tags,
        operationId: `${kind}.create`,
        summary: `Create a ${kind}; its secret is shown once`,
        params: ProjectParams,
        ...(kind === 'distribution' && { querystring: UniqueNameQuery }),
        body: bodyOf<DestinationFields & { target_url: string }>(Creation[kind], {
          examples: [EXAMPLE[kind]],
        }),
        response: { 201: ShownWithSecret[kind] },
      },
    },
    async (request, reply) => {
      const { params, body: fields, actor } = request
      const { unique_name: uniqueName } = request.query as { unique_name?: boolean }
      const wanted = { projectId: params.project_id, kind, fields, actor, uniqueName }
      const { row, secret } = await createDestination(deps, wanted)
      return reply.code(201).send({ ...(await shown(row)), secret } as never)
    },
  )

  app.get(
    ownPath,
    {
      config: forOperators('viewer'),
      schema: {
        tags,
        operationId: `${kind}.show`,
        summary: `Read a ${kind}`,
        params: Params,
        response: { 200: Shown[kind] },
      },
    },
    async (request) => {
      const which = asked(request)
      await requireProject(deps.db, which.projectId)
      const row = await findDestination(deps.db, which)
      if (!row) throw notFound(kind, which.id)
      return (await shown(row)) as never
    },
  )

  app.put(
    ownPath,
    {
      config: forOperators('editor'),
      schema: {
        tags,
        operationId: `${kind}.update`,
        summary: `Update a ${kind}; omitted fields and the secret stay unchanged`,
        params: Params,
        body: bodyOf<DestinationFields>(Replacement[kind], { minProperties: 1 }),
        response: { 200: Shown[kind] },
      },
    },
    async (request) => (await shown(await updateDestination(deps, asked(request), request.body))) as never,
  )

  app.delete(
    ownPath,
    {
      config: forOperators('editor'),
      schema: {
        tags,
        operationId: `${kind}.delete`,
        summary: `Delete a ${kind}; sending to it stops`,
        params: Params,
        response: { 204: Nothing },
      },
    },
    async (request, reply) => {
      await deleteDestination(deps, asked(request))
      return reply.code(204).send(null)
    },
  )

  const verbs = [
    { verb: 'enable', run: enableDestination, summary: `Enable a ${kind}; held deliveries are sent` },
    { verb: 'disable', run: disableDestination, summary: `Disable a ${kind}; its deliveries are held` },
  ]
  for (const { verb, run, summary } of verbs)
    app.post(
      `${ownPath}/${verb}`,
      {
        config: forOperators('editor'),
        schema: {
          tags,
          operationId: `${kind}.${verb}`,
          summary,
          params: Params,
          response: { 200: Shown[kind] },
        },
      },
      async (request) => (await shown(await run(deps, asked(request)))) as never,
    )

  app.post(
    `${ownPath}/rotate-secret`,
    {
      config: forOperators('editor'),
      schema: {
        tags,
        operationId: `${kind}.rotate`,
        summary: 'Replace the secret; the new one is shown once',
        params: Params,
        body: Type.Optional(
          strict({
            overlap_seconds: Type.Optional(
              Type.Integer({
                minimum: 0,
                maximum: MAX_OVERLAP_SECONDS,
                description: `How long the previous secret also signs. Default: ${DEFAULT_OVERLAP_SECONDS}.`,
              }),
            ),
          }),
        ),
        response: { 200: ShownWithSecret[kind] },
      },
    },
    async (request) => {
      const overlapSeconds = request.body?.overlap_seconds ?? DEFAULT_OVERLAP_SECONDS
      const { row, secret } = await rotateSecret(deps, { ...asked(request), overlapSeconds })
      return { ...(await shown(row)), secret } as never
    },
  )
}
