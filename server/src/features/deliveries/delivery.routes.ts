import { Type } from 'typebox'
import { notFound } from '../../contract/problem.ts'
import type { Clock } from '../../platform/clock.ts'
import {
  type App,
  CursorQuery,
  filterField,
  forOperators,
  IdParam,
  listAnswer,
  listFilter,
  listOf,
  pageOf,
  strict,
  traceparentOf,
} from '../../platform/http/index.ts'
import { findEvent } from '../events/index.ts'
import { requireProject } from '../projects/index.ts'
import type { DestinationKind } from '../webhooks/index.ts'
import { Delivery, failureFields, Replay, TestDelivery, WholeDelivery } from './delivery.schemas.ts'
import type { DeliveryStatus } from './delivery.ts'
import { findDelivery, listAttempts } from './delivery-record.store.ts'
import { DELIVERY_STATES, DELIVERY_STATUSES, type DeliveryState } from './delivery-status.ts'
import { type ListedDelivery, listedView, wholeDeliveryView } from './delivery-view.ts'
import { listDeliveries, listed, searchPeriod } from './list-deliveries.ts'
import { replayEvent } from './replay-event.ts'
import { type RecordDeps, retryDelivery } from './retry-delivery.ts'
import { sendTest } from './send-test.ts'

const PROJECT = '/management/v1/projects/:project_id'
const ProjectParams = Type.Object({ project_id: IdParam })
const DeliveryParams = Type.Object({ project_id: IdParam, delivery_id: IdParam })

const Filter = strict({
  ...CursorQuery,
  status: listFilter(DELIVERY_STATUSES, 'One status, or several separated by commas.'),
  state: Type.Optional(
    Type.Unsafe<DeliveryState>({
      type: 'string',
      enum: DELIVERY_STATES,
      description: '`failing`: `pending` with at least one failed attempt.',
    }),
  ),
  destination: filterField('Id of the webhook or distribution.'),
  event: filterField('Id of the event.'),
  ...failureFields,
})

/** Columns that the command line shows of a delivery, in this order. */
const SHOWN = [
  ...['status', 'attempts_made', 'next_attempt_at', 'id', 'event_kind', 'event_id'],
  ...['destination_url', 'destination_id', 'created_at'],
]

const shape = {
  item: listedView,
  position: ({ row }: ListedDelivery) => ({ at: row.created_at, id: row.id }),
}

/** The record of deliveries, and the operations that send them again. */
export function deliveryRoutes(app: App, deps: RecordDeps & { readonly clock: Clock }): void {
  addReads(app, deps)
  addRetry(app, deps)
  addReplay(app, deps)
  addTests(app, deps)
}

function addReads(app: App, { db, clock }: RecordDeps & { readonly clock: Clock }): void {
  app.get(
    `${PROJECT}/deliveries`,
    {
      config: forOperators('viewer'),
      schema: {
        tags: ['deliveries'],
        operationId: 'delivery.list',
        summary: 'List the deliveries of a project, newest first',
        description:
          '`payload` and `attempts` are only in the answer for a single delivery. `total` counts up to 10,000. Filters can be combined.',
        params: ProjectParams,
        querystring: Filter,
        response: { 200: listOf(Delivery) },
        'x-columns': [
          'created_at',
          'id',
          'status',
          'destination_id',
          'attempts_made',
          'next_attempt_at',
          'last_attempt.status',
          'last_attempt.error',
        ],
      },
    },
    async ({ params, query }) => {
      const { id: projectId } = await requireProject(db, params.project_id)
      const { state, destination, event, http_status: httpStatus, error } = query
      const page = error === undefined ? pageOf(query) : searchPeriod(pageOf(query), clock.now())
      const statuses = query.status?.split(',') as DeliveryStatus[] | undefined
      const filter = { projectId, statuses, state, destination, event, httpStatus, error }
      return listAnswer(await listDeliveries(db, filter, page), page, shape)
    },
  )

  app.get(
    `${PROJECT}/deliveries/:delivery_id`,
    {
      config: forOperators('viewer'),
      schema: {
        tags: ['deliveries'],
        operationId: 'delivery.show',
        summary: 'Read a delivery with its attempts and payload',
        params: DeliveryParams,
        response: { 200: WholeDelivery },
        'x-columns': [...SHOWN, 'attempts', 'payload'],
      },
    },
    async ({ params: { project_id: projectId, delivery_id: id } }) => {
      await requireProject(db, projectId)
      const row = await findDelivery(db, projectId, id)
      const event = row && (await findEvent(db, projectId, row.event_id))
      if (!row || !event) throw notFound('delivery', id)
      return wholeDeliveryView({
        ...(await listed(db, row)),
        row,
        event,
        attempts: await listAttempts(db, row),
      })
    },
  )
}

function addRetry(app: App, deps: RecordDeps): void {
  app.post(
    `${PROJECT}/deliveries/:delivery_id/retry`,
    {
      config: forOperators('editor'),
      schema: {
        tags: ['deliveries'],
        operationId: 'delivery.retry',
        summary: 'Retry a delivery now',
        description:
          'A delivery that is being sent stays unchanged. While its destination is disabled it stays `held`, and is sent when the destination is enabled.',
        params: DeliveryParams,
        response: { 200: Delivery },
        'x-columns': SHOWN,
      },
    },
    ({ params, actor }) =>
      retryDelivery(deps, { projectId: params.project_id, id: params.delivery_id, actor }),
  )
}

function addReplay(app: App, deps: RecordDeps): void {
  app.post(
    `${PROJECT}/events/:event_id/replay`,
    {
      config: forOperators('editor'),
      schema: {
        tags: ['events'],
        operationId: 'event.replay',
        summary: 'Send an event again to its destinations',
        description:
          'Sends it again whether or not it was delivered, with the same ids, so that receivers recognise it. It is sent to the current URL of each destination.',
        params: Type.Object({ project_id: IdParam, event_id: IdParam }),
        body: Type.Optional(
          strict({
            destination: filterField('Id of a webhook or distribution, to send only there.'),
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

/** An attempt may take 10 s, and a worker claims it within a second. */
const MAX_WAIT_MS = 15_000

const WaitQuery = strict({
  wait_ms: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MAX_WAIT_MS,
      default: 0,
      description: 'Maximum time in milliseconds to wait for the attempt.',
    }),
  ),
})

function addTests(app: App, deps: RecordDeps & { readonly clock: Clock }): void {
  const stopping = new AbortController()
  app.addHook('preClose', async () => stopping.abort())
  for (const kind of ['webhook', 'distribution'] as const) addTest(app, deps, { kind, stopping })
}

interface Tested {
  readonly kind: DestinationKind
  readonly stopping: AbortController
}

function addTest(app: App, deps: RecordDeps & { readonly clock: Clock }, { kind, stopping }: Tested): void {
  app.post(
    `${PROJECT}/${kind}s/:${kind}_id/test`,
    {
      config: forOperators('editor'),
      schema: {
        tags: [`${kind}s`],
        operationId: `${kind}.test`,
        summary: `Send a test event to a ${kind}`,
        description:
          'Its type is `webhook.test`. The response waits up to `wait_ms` for the attempt. `attempt` is null if none was made in time.',
        params: Type.Object({ project_id: IdParam, [`${kind}_id`]: IdParam }),
        querystring: WaitQuery,
        response: { 201: TestDelivery },
        'x-columns': [...SHOWN, 'attempt'],
      },
    },
    async (request, reply) => {
      const params = request.params as Record<string, string>
      const delivery = await sendTest(deps, {
        projectId: params.project_id!,
        kind,
        id: params[`${kind}_id`]!,
        actor: request.actor,
        traceparent: traceparentOf(request),
        waitMs: request.query.wait_ms ?? 0,
        signal: AbortSignal.any([request.signal, stopping.signal]),
      })
      return reply.code(201).send(delivery)
    },
  )
}
