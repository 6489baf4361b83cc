import { type Static, Type } from 'typebox'
import { EVENT_KIND_NAMES, type EventKindName, eventKindOf, TEST_EVENT } from '../../contract/event-kinds.ts'
import { notFound, Problem } from '../../contract/problem.ts'
import type { Database } from '../../platform/database/index.ts'
import {
  type App,
  CursorQuery,
  filterField,
  forOperators,
  IdParam,
  listAnswer,
  listOf,
  NullableText,
  type Page,
  pageOf,
  type Rows,
  strict,
} from '../../platform/http/index.ts'
import { requireProject } from '../projects/index.ts'
import { type EventHead, findShownEvent, findShownEvents, listEventRows, type Shown } from './event.store.ts'
import { eventHeadView, eventView } from './event.ts'

const headFields = {
  id: Type.String(),
  object: Type.Literal('event'),
  kind: Type.String(),
  type: Type.String({ description: 'Name of the kind in `event.type`.' }),
  version: Type.String({ description: 'Version of the event fields.' }),
  entity_id: Type.String({ description: 'Id of the customer.' }),
  campaign_id: NullableText,
  group_id: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: 'Request id of the call that caused the event.',
  }),
  event_source: Type.Object({
    channel: Type.String(),
    api_key: Type.Optional(Type.Object({ name: Type.String(), app_id: Type.String() })),
  }),
  occurred_at: Type.String({
    description: 'Time of the redemption; earlier than `created_at` if it was reported later.',
  }),
  created_at: Type.String(),
  waiting: Type.Boolean({ description: 'True until a worker has created the deliveries of the event.' }),
}
const countFields = {
  delivery_counts: Type.Object(
    {
      pending: Type.Integer({ description: 'Deliveries that are due or will be.' }),
      failing: Type.Integer({ description: 'Pending deliveries that were tried and failed.' }),
      delivered: Type.Integer({ description: 'Deliveries that the receiver accepted.' }),
      held: Type.Integer({ description: 'Deliveries that wait until their destination is enabled.' }),
      exhausted: Type.Integer({ description: 'Deliveries without a retry left.' }),
      cancelled: Type.Integer({ description: 'Deliveries whose destination was deleted.' }),
    },
    { description: 'How many deliveries of the event have each status.' },
  ),
}
const EventHeadSchema = Type.Object({ ...headFields, ...countFields })
const EventSchema = Type.Object({
  ...headFields,
  ...countFields,
  data: Type.Unsafe<unknown>({ description: 'Event fields as sent to receivers, without `publication`.' }),
})

const Filter = strict({
  ...CursorQuery,
  kind: Type.Optional(
    Type.Unsafe<EventKindName | typeof TEST_EVENT>({
      type: 'string',
      enum: [...EVENT_KIND_NAMES, TEST_EVENT],
      description: 'Event kind (both names are accepted), or `webhook.test`.',
    }),
  ),
  entity: filterField('Id of the customer.'),
  undelivered: Type.Optional(
    Type.Boolean({
      description:
        'Only events of which something is not delivered: waiting for a worker, or with a delivery that is pending, held or exhausted. Cannot be combined with `kind` or `entity`.',
    }),
  ),
})

/** An event that is not delivered everywhere, and its position in the list of these. */
interface Undelivered {
  readonly eventId: string
  readonly at: number
  readonly id: string
}

type Counts = Static<typeof countFields.delivery_counts>

/** Deliveries know events, so both functions are passed in. */
interface Deps {
  readonly db: Database
  readonly listUndelivered: (db: Database, projectId: string, page: Page) => Promise<Rows<Undelivered>>
  /** By the id of the event, for each of the given ids. */
  readonly countDeliveries: (
    db: Database,
    projectId: string,
    eventIds: readonly string[],
  ) => Promise<ReadonlyMap<string, Counts>>
}

interface Listed {
  readonly event: Shown<EventHead>
  readonly position: { readonly at: number; readonly id: string }
}

/** The page with the counts of its events. */
async function counted({ db, countDeliveries }: Deps, { rows, total }: Rows<Listed>, page: Page) {
  const projectId = rows[0]?.event.project_id ?? ''
  const ids = rows.slice(0, page.limit).map(({ event }) => event.id)
  const counts = await countDeliveries(db, projectId, ids)
  return listAnswer({ rows, total }, page, {
    item: ({ event }) => ({ ...eventHeadView(event), delivery_counts: counts.get(event.id)! }),
    position: ({ position }) => position,
  })
}

async function undeliveredList(deps: Deps, projectId: string, page: Page) {
  const { db, listUndelivered } = deps
  const { rows, total } = await listUndelivered(db, projectId, page)
  const heads = await findShownEvents(
    db,
    projectId,
    rows.map(({ eventId }) => eventId),
  )
  const found = rows.flatMap(({ eventId, at, id }) => {
    const event = heads.get(eventId)
    return event ? [{ event, position: { at, id } }] : []
  })
  return counted(deps, { rows: found, total }, page)
}

function refuseOthers({ kind, entity }: { kind?: string; entity?: string }): void {
  if ((kind ?? entity) === undefined) return
  throw new Problem('invalid_payload', {
    message: 'undelivered cannot be combined with kind or entity.',
    details: 'Send it alone, or with from and to.',
  })
}

export function eventRoutes(app: App, deps: Deps): void {
  const { db } = deps
  const tags = ['events']
  const path = '/management/v1/projects/:project_id/events'

  app.get(
    path,
    {
      config: forOperators('viewer'),
      schema: {
        tags,
        operationId: 'event.list',
        summary: 'List the events of a project, newest first',
        description:
          'Read a single event to get its `data`. `total` counts up to 10,000, and with `undelivered` the events of 1,000 deliveries.',
        params: Type.Object({ project_id: IdParam }),
        querystring: Filter,
        response: { 200: listOf(EventHeadSchema) },
        'x-columns': ['created_at', 'id', 'type', 'entity_id', 'campaign_id', 'waiting'],
      },
    },
    async ({ params, query }) => {
      const project = await requireProject(db, params.project_id)
      const kind =
        query.kind === undefined || query.kind === TEST_EVENT ? query.kind : eventKindOf(query.kind)
      const page = pageOf(query)
      if (query.undelivered) {
        refuseOthers(query)
        return undeliveredList(deps, project.id, page)
      }
      const filter = { projectId: project.id, kind, entity: query.entity }
      const { rows, total } = await listEventRows(db, filter, page)
      const found = rows.map((event) => ({ event, position: { at: event.created_at, id: event.id } }))
      return counted(deps, { rows: found, total }, page)
    },
  )

  app.get(
    `${path}/:event_id`,
    {
      config: forOperators('viewer'),
      schema: {
        tags,
        operationId: 'event.show',
        summary: 'Read an event with its data',
        params: Type.Object({ project_id: IdParam, event_id: IdParam }),
        response: { 200: EventSchema },
      },
    },
    async ({ params: { project_id, event_id } }) => {
      await requireProject(db, project_id)
      const row = await findShownEvent(db, project_id, event_id)
      if (!row) throw notFound('event', event_id)
      const counts = await deps.countDeliveries(db, project_id, [event_id])
      return { ...eventView(row), delivery_counts: counts.get(event_id)! }
    },
  )
}
