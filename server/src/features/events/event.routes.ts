import { Type } from 'typebox'
import { EVENT_KIND_NAMES, type EventKindName, eventKindOf, TEST_EVENT } from '../../contract/event-kinds.ts'
import { notFound } from '../../contract/problem.ts'
import type { Database } from '../../platform/database/index.ts'
import {
  type App,
  CursorQuery,
  filterField,
  IdParam,
  listAnswer,
  listOf,
  NullableText,
  pageOf,
  strict,
} from '../../platform/http/index.ts'
import { requireProject } from '../projects/index.ts'
import { type EventHead, findShownEvent, listEventRows, type Shown } from './event.store.ts'
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
const EventHeadSchema = Type.Object(headFields)
const EventSchema = Type.Object({
  ...headFields,
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
})

const shape = {
  item: eventHeadView,
  position: (row: Shown<EventHead>) => ({ at: row.created_at, id: row.id }),
}

export function eventRoutes(app: App, { db }: { db: Database }): void {
  const config = { access: 'operator', management: true } as const
  const tags = ['events']
  const path = '/management/v1/projects/:project_id/events'

  app.get(
    path,
    {
      config,
      schema: {
        tags,
        operationId: 'event.list',
        summary: 'List the events of a project, newest first',
        description: 'Read a single event to get its `data`. `total` counts up to 10,000.',
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
      const filter = { projectId: project.id, kind, entity: query.entity }
      return listAnswer(await listEventRows(db, filter, page), page, shape)
    },
  )

  app.get(
    `${path}/:event_id`,
    {
      config,
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
      return eventView(row)
    },
  )
}
