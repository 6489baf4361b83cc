import { Type } from 'typebox'
import { EVENT_KINDS } from '../../contract/event-kinds.ts'
import { notFound } from '../../contract/problem.ts'
import { type App, IdParam, listAnswer, listOf } from '../../platform/http/index.ts'
import { EVENT_SCHEMAS, type EventSchema } from './event-schemas.ts'

const Entry = Type.Object({
  kind: Type.String(),
  object: Type.Literal('event_schema'),
  type: Type.String({ description: 'The form in `event.type`; subscriptions accept both.' }),
  version: Type.String(),
  description: Type.String(),
  url: Type.String({ description: 'The JSON Schema of what receivers get.' }),
})

/** For whoever writes a receiver: nothing here is secret, so nobody needs to show who they are. */
export function eventSchemaRoutes(app: App, { publicUrl }: { publicUrl: () => string }): void {
  const config = { access: 'public' } as const
  const tags = ['event schemas']

  const view = ({ kind, file }: EventSchema) => ({
    kind,
    object: 'event_schema' as const,
    type: EVENT_KINDS[kind].wire,
    version: EVENT_KINDS[kind].version,
    description: EVENT_KINDS[kind].says,
    url: `${publicUrl()}/events/${file}`,
  })

  app.get(
    '/events',
    {
      config,
      schema: {
        tags,
        operationId: 'event-schema.list',
        summary: 'List the kinds of events and their JSON Schemas',
        response: { 200: listOf(Entry) },
      },
    },
    async () =>
      listAnswer(
        { rows: EVENT_SCHEMAS, total: EVENT_SCHEMAS.length },
        { limit: EVENT_SCHEMAS.length, offset: 0 },
        { item: view },
      ),
  )

  app.get(
    '/events/:file',
    {
      config,
      schema: {
        tags,
        operationId: 'event-schema.show',
        summary: 'The JSON Schema of an event',
        params: Type.Object({ file: IdParam }),
      },
    },
    async ({ params: { file } }, reply) => {
      const found = EVENT_SCHEMAS.find((one) => one.file === file)
      if (!found) throw notFound('event_schema', file)
      // Text, so that the answer is what `docs/events/` holds.
      return reply.header('content-type', 'application/schema+json').send(schemaText(found))
    },
  )
}

export const schemaText = ({ schema }: EventSchema): string => `${JSON.stringify(schema, null, 2)}\n`
