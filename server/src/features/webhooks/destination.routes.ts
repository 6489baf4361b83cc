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
} from '../../platform/http/index.ts'
import { requireProject } from '../projects/index.ts'
import type { DestinationRequest } from './change-destination.ts'
import { createDestination, type DestinationDeps } from './create-destination.ts'
import { Creation, Replacement, Shown, ShownWithSecret } from './destination.schemas.ts'
import { type DestinationKind, findDestination, listDestinationRows } from './destination.store.ts'
import { type DestinationFields, destinationView } from './destination.ts'
import {
  deleteDestination,
  disableDestination,
  enableDestination,
  rotateSecret,
  updateDestination,
} from './destination-changes.ts'

/** Receivers get a day to learn the new secret. */
const DEFAULT_OVERLAP_SECONDS = 86_400
const LONGEST_OVERLAP_SECONDS = 7 * 86_400

const COLUMNS: Readonly<Record<DestinationKind, readonly string[]>> = {
  webhook: ['id', 'target_url', 'events', 'active', 'disabled_reason', 'created_at'],
  distribution: ['id', 'name', 'campaign_id', 'target_url', 'active', 'disabled_reason', 'created_at'],
}

const SUBSCRIPTION = {
  target_url: 'https://hooks.example.com/jeton',
  events: ['customer.reward_redemptions.completed'],
}
const EXAMPLE: Readonly<Record<DestinationKind, object>> = {
  webhook: SUBSCRIPTION,
  distribution: { name: 'Redeemed', campaign_id: '$CAMPAIGN_ID', ...SUBSCRIPTION },
}

/** Project webhooks and distributions differ in their fields, and in nothing that is done with them. */
export function destinationRoutes(app: App, deps: DestinationDeps): void {
  routesOf(app, deps, 'webhook')
  routesOf(app, deps, 'distribution')
}

/** The fields of both kinds in one type: which of them each may carry is said by its schema. */
const bodyOf = <Fields>(properties: TProperties, rules?: object) =>
  Type.Unsafe<Fields>(strict(properties, rules))

function routesOf(app: App, deps: DestinationDeps, kind: DestinationKind): void {
  const tags = [`${kind}s`]
  const path = `/management/v1/projects/:project_id/${kind}s`
  const ownPath = `${path}/:${kind}_id`
  const ProjectParams = Type.Object({ project_id: IdParam })
  const Params = Type.Object({ project_id: IdParam, [`${kind}_id`]: IdParam })

  const asked = (request: { params: unknown; actor: Actor }): DestinationRequest => {
    const params = request.params as Record<string, string>
    return { projectId: params.project_id!, kind, id: params[`${kind}_id`]!, actor: request.actor }
  }

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
          ...(kind === 'distribution' && { campaign: filterField('Id of the loyalty campaign.') }),
        }),
        response: { 200: listOf(Shown[kind]) },
        'x-columns': COLUMNS[kind],
      },
    },
    async (request) => {
      const { id: projectId } = await requireProject(deps.db, request.params.project_id)
      const page = pageOf(request.query)
      const { active, campaign } = request.query as { active?: boolean; campaign?: string }
      const rows = await listDestinationRows(deps.db, { projectId, kind, active, campaignId: campaign }, page)
      return listAnswer(rows, page, { item: destinationView }) as never
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
        body: bodyOf<DestinationFields & { target_url: string }>(Creation[kind], {
          examples: [EXAMPLE[kind]],
        }),
        response: { 201: ShownWithSecret[kind] },
      },
    },
    async (request, reply) => {
      const { params, body: fields, actor } = request
      const wanted = { projectId: params.project_id, kind, fields, actor }
      const { row, secret } = await createDestination(deps, wanted)
      return reply.code(201).send({ ...destinationView(row), secret } as never)
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
      return destinationView(row) as never
    },
  )

  app.put(
    ownPath,
    {
      config: forOperators('editor'),
      schema: {
        tags,
        operationId: `${kind}.update`,
        summary: `Change a ${kind}; what is not named stays, and so does the secret`,
        params: Params,
        body: bodyOf<DestinationFields>(Replacement[kind], { minProperties: 1 }),
        response: { 200: Shown[kind] },
      },
    },
    async (request) => destinationView(await updateDestination(deps, asked(request), request.body)) as never,
  )

  app.delete(
    ownPath,
    {
      config: forOperators('editor'),
      schema: {
        tags,
        operationId: `${kind}.delete`,
        summary: `Delete a ${kind}; nothing more is sent to it`,
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
    { verb: 'enable', run: enableDestination, summary: `Enable a ${kind}; what was held is sent` },
    { verb: 'disable', run: disableDestination, summary: `Disable a ${kind}; what is to be sent is held` },
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
      async (request) => destinationView(await run(deps, asked(request))) as never,
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
                maximum: LONGEST_OVERLAP_SECONDS,
                description: `How long the secret before it signs as well. Default: ${DEFAULT_OVERLAP_SECONDS}.`,
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
      return { ...destinationView(row), secret } as never
    },
  )
}
