import { Type } from 'typebox'
import { EVENT_KINDS } from '../../contract/event-kinds.ts'
import { notFound } from '../../contract/problem.ts'
import { type App, IdParam, listAnswer, listOf } from '../../platform/http/index.ts'
import { EVENT_SCHEMAS, type EventSchema } from './event-schemas.ts'

const Entry = Type.Object({
  kind: Type.String(),
  object: Type.Literal('event_schema'),
  type: Type.String({ description: 'Name in `event.type`. Subscriptions accept both names.' }),
  version: Type.String(),
  description: Type.String(),
  url: Type.String({ description: 'URL of the JSON Schema of the payload.' }),
})

/** Public, because receivers need the schemas and they contain no secrets. */
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
        summary: 'List event kinds and their JSON Schemas',
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
        summary: 'Read the JSON Schema of an event kind',
        params: Type.Object({ file: IdParam }),
      },
    },
    async ({ params: { file } }, reply) => {
      const found = EVENT_SCHEMAS.find((one) => one.file === file)
      if (!found) throw notFound('event_schema', file)
      // Sent as text, so that the response equals the file in `docs/events/`.
      return reply.header('content-type', 'application/schema+json').send(schemaText(found))
    },
  )
}

export const schemaText = ({ schema }: EventSchema): string => `${JSON.stringify(schema, null, 2)}\n`
