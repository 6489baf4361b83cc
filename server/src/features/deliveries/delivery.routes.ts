import { Type } from 'typebox'
import { notFound } from '../../contract/problem.ts'
import {
  type App,
  CursorQuery,
  filterField,
  IdParam,
  isoTime,
  listAnswer,
  listOf,
  moment,
  pageOf,
  strict,
  timeOf,
} from '../../platform/http/index.ts'
import { findEvent } from '../events/index.ts'
import { requireProject } from '../projects/index.ts'
import type { DestinationKind } from '../webhooks/index.ts'
import { Delivery, Recovery, Replay, WholeDelivery } from './delivery.schemas.ts'
import type { DeliveryStatus } from './delivery.ts'
import { findDelivery, listAttempts } from './delivery-record.store.ts'
import { findDestinationStates } from './delivery-runs.store.ts'
import { DELIVERY_STATUSES } from './delivery-status.ts'
import { deliveryView, wholeDeliveryView } from './delivery-view.ts'
import { type ListedDelivery, listDeliveries } from './list-deliveries.ts'
import { recoverDeliveries } from './recover-deliveries.ts'
import { replayEvent } from './replay-event.ts'
import { type RecordDeps, retryDelivery } from './retry-delivery.ts'
import { sendTest } from './send-test.ts'

const config = { access: 'operator', management: true } as const
const PROJECT = '/management/v1/projects/:project_id'
const ProjectParams = Type.Object({ project_id: IdParam })
const DeliveryParams = Type.Object({ project_id: IdParam, delivery_id: IdParam })

const Filter = strict({
  ...CursorQuery,
  status: Type.Optional(Type.Unsafe<DeliveryStatus>({ type: 'string', enum: DELIVERY_STATUSES })),
  destination: filterField('Id of the webhook or distribution.'),
  event: filterField('Id of the event.'),
})

const shape = {
  item: ({ row, destination }: ListedDelivery) => deliveryView(row, destination),
  position: ({ row }: ListedDelivery) => ({ at: row.created_at, id: row.id }),
}

/** What is sent to whom, on record; and everything by which it is sent once more. */
export function deliveryRoutes(app: App, deps: RecordDeps): void {
  addReads(app, deps)
  addRetry(app, deps)
  addRecover(app, deps)
  addReplay(app, deps)
  addTest(app, deps, 'webhook')
  addTest(app, deps, 'distribution')
}

function addReads(app: App, { db }: RecordDeps): void {
  app.get(
    `${PROJECT}/deliveries`,
    {
      config,
      schema: {
        tags: ['deliveries'],
        operationId: 'delivery.list',
        summary: 'List the deliveries of a project, newest first',
        description:
          '`payload` and `attempts` are in the answer for one delivery alone. `total` counts to 10,000 at most.',
        params: ProjectParams,
        querystring: Filter,
        response: { 200: listOf(Delivery) },
        'x-columns': [
          'created_at',
          'id',
          'status',
          'event_id',
          'destination_id',
          'attempts_made',
          'next_attempt_at',
        ],
      },
    },
    async ({ params, query }) => {
      const { id: projectId } = await requireProject(db, params.project_id)
      const page = pageOf(query)
      const { status, destination, event } = query
      return listAnswer(
        await listDeliveries(db, { projectId, status, destination, event }, page),
        page,
        shape,
      )
    },
  )

  app.get(
    `${PROJECT}/deliveries/:delivery_id`,
    {
      config,
      schema: {
        tags: ['deliveries'],
        operationId: 'delivery.show',
        summary: 'Read a delivery with every attempt and what is sent',
        params: DeliveryParams,
        response: { 200: WholeDelivery },
      },
    },
    async ({ params: { project_id: projectId, delivery_id: id } }) => {
      await requireProject(db, projectId)
      const row = await findDelivery(db, projectId, id)
      const event = row && (await findEvent(db, projectId, row.event_id))
      if (!row || !event) throw notFound('delivery', id)
      const [destination] = await findDestinationStates(db, projectId, [row.destination_id])
      return wholeDeliveryView({ row, destination, event, attempts: await listAttempts(db, row) })
    },
  )
}

function addRetry(app: App, deps: RecordDeps): void {
  app.post(
    `${PROJECT}/deliveries/:delivery_id/retry`,
    {
      config,
      schema: {
        tags: ['deliveries'],
        operationId: 'delivery.retry',
        summary: 'Send a delivery now that is not delivered',
        description:
          'What is being sent at this moment stays as it is. While its destination is disabled it stays `held`, and is sent when that is enabled.',
        params: DeliveryParams,
        response: { 200: Delivery },
      },
    },
    ({ params, actor }) =>
      retryDelivery(deps, { projectId: params.project_id, id: params.delivery_id, actor }),
  )
}

function addRecover(app: App, deps: RecordDeps): void {
  app.post(
    `${PROJECT}/deliveries/recover`,
    {
      config,
      schema: {
        tags: ['deliveries'],
        operationId: 'delivery.recover',
        summary: 'Send everything again that was given up since a time',
        description:
          'Reopens every delivery that became `exhausted` at that time or later, in small steps. If it breaks off, the same call goes on.',
        params: ProjectParams,
        body: strict({
          since: moment('Those that were given up at this time or later.'),
          destination: filterField('Id of a webhook or distribution, where only its own are meant.'),
          dry_run: Type.Optional(Type.Boolean({ description: 'Only count them.' })),
        }),
        response: { 200: Recovery },
      },
    },
    async ({ params, body, actor }) => {
      const { destination, dry_run: dryRun = false } = body
      const since = timeOf(body.since, 'since')
      const wanted = { projectId: params.project_id, since, destination, dryRun, actor }
      const outcome = await recoverDeliveries(deps, wanted)
      return {
        object: 'recovery' as const,
        since: isoTime(since),
        destination: destination ?? null,
        dry_run: dryRun,
        ...outcome,
      }
    },
  )
}

function addReplay(app: App, deps: RecordDeps): void {
  app.post(
    `${PROJECT}/events/:event_id/replay`,
    {
      config,
      schema: {
        tags: ['events'],
        operationId: 'event.replay',
        summary: 'Send an event again to those that it was written for',
        description:
          'Also where it was delivered: under the same ids, so that receivers can tell. It goes to the present address of each.',
        params: Type.Object({ project_id: IdParam, event_id: IdParam }),
        body: Type.Optional(
          strict({
            destination: filterField('Id of a webhook or distribution, where only it is meant.'),
          }),
        ),
        response: { 200: Replay },
      },
    },
    async ({ params: { project_id: projectId, event_id: eventId }, body, actor }) => {
      const outcome = await replayEvent(deps, { projectId, eventId, destination: body?.destination, actor })
      return { object: 'replay' as const, event_id: eventId, ...outcome }
    },
  )
}

function addTest(app: App, deps: RecordDeps, kind: DestinationKind): void {
  app.post(
    `${PROJECT}/${kind}s/:${kind}_id/test`,
    {
      config,
      schema: {
        tags: [`${kind}s`],
        operationId: `${kind}.test`,
        summary: `Send a test event to a ${kind}`,
        description: 'Its type is `webhook.test`. Read the delivery to see what became of it.',
        params: Type.Object({ project_id: IdParam, [`${kind}_id`]: IdParam }),
        response: { 201: Delivery },
      },
    },
    async (request, reply) => {
      const params = request.params as Record<string, string>
      const { actor } = request
      const wanted = { projectId: params.project_id!, kind, id: params[`${kind}_id`]!, actor }
      return reply.code(201).send(await sendTest(deps, wanted))
    },
  )
}
