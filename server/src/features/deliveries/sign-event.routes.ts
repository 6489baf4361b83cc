import { Type } from 'typebox'
import { WEBHOOK_SECRET_PREFIX } from '../../contract/ids.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Vault } from '../../platform/encryption.ts'
import { type App, forOperators, IdParam, strict } from '../../platform/http/index.ts'
import { type SigningRequest, signEvent } from './sign-event.ts'

const fields = {
  destination: Type.Optional(
    Type.String({ maxLength: 100, description: 'Id of the webhook or distribution whose secret signs.' }),
  ),
  secret: Type.Optional(
    Type.String({
      pattern: `^${WEBHOOK_SECRET_PREFIX}[A-Za-z0-9+/]{30,90}={0,2}$`,
      'x-says': `must be a secret of Standard Webhooks: ${WEBHOOK_SECRET_PREFIX} and base64`,
      description: 'Secret to sign with instead of a destination, for a project that has none yet.',
    }),
  ),
  target_url: Type.Optional(
    Type.String({ maxLength: 2000, description: 'Target URL in the payload. Only with `secret`.' }),
  ),
}

const Body = strict(fields, {
  oneOf: [
    { required: ['destination'], maxProperties: 1 },
    { required: ['secret'], not: { required: ['destination'] } },
  ],
  'x-says': 'must contain either destination or secret, and target_url only with secret',
})

type Fields = { destination?: string; secret?: string; target_url?: string }

const signerIn = ({ destination, secret, target_url }: Fields): SigningRequest['as'] =>
  secret === undefined ? { destinationId: destination! } : { secret, targetUrl: target_url ?? '' }

/**
 * Only reads, although it is a POST: nothing is sent, stored, changed or audited. It takes a body instead of a query,
 * because the body may contain a secret.
 */
export function signEventRoutes(app: App, deps: { readonly db: Database; readonly vault: Vault }): void {
  app.post(
    '/management/v1/projects/:project_id/events/:event_id/signed',
    {
      config: forOperators('editor'),
      schema: {
        tags: ['events'],
        operationId: 'event.sign',
        summary: 'Sign an event without sending it',
        description:
          'Returns the headers and the body as they would be sent now. If a delivery of the event to the destination exists, its id and bytes are used. Custom headers of a distribution are omitted.',
        params: Type.Object({ project_id: IdParam, event_id: IdParam }),
        body: Body,
        response: {
          200: Type.Object({
            headers: Type.Record(Type.String(), Type.String()),
            body: Type.String({ description: 'Exact text that is signed.' }),
          }),
        },
      },
    },
    async ({ params, body }) =>
      signEvent(deps, { projectId: params.project_id, eventId: params.event_id, as: signerIn(body) }),
  )
}
