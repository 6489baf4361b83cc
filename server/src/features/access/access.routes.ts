import { Type } from 'typebox'
import type { Database } from '../../platform/database/index.ts'
import { type App, NullableText, strict } from '../../platform/http/index.ts'
import type { Memory } from '../tokens/index.ts'
import { checkAccess } from './check-access.ts'

const Answer = Type.Object({
  object: Type.Literal('access_check'),
  allowed: Type.Boolean(),
  needed_scope: NullableText,
  steps: Type.Array(Type.Object({ step: Type.String(), passed: Type.Boolean(), says: Type.String() })),
  remedy: NullableText,
})

export function accessRoutes(app: App, deps: { db: Database; memory: Memory }): void {
  app.post(
    '/management/v1/access-checks',
    {
      config: { access: 'operator', management: true },
      schema: {
        tags: ['access'],
        operationId: 'access.check',
        summary: 'May this token or key call this path from this address?',
        description:
          'One of `access_token` and `app_id`. Every step is answered, with what would mend the first that failed.',
        body: strict(
          {
            access_token: Type.Optional(Type.String({ maxLength: 500 })),
            app_id: Type.Optional(Type.String({ maxLength: 100 })),
            path: Type.String({ minLength: 1, maxLength: 8000 }),
            address: Type.Optional(Type.String({ maxLength: 100 })),
          },
          {
            oneOf: [{ required: ['access_token'] }, { required: ['app_id'] }],
            'x-says': 'must name access_token or app_id, and not both',
            'x-key': 'missing_parameters',
          },
        ),
        response: { 200: Answer },
      },
    },
    async (request) => ({ object: 'access_check' as const, ...(await checkAccess(deps, request.body)) }),
  )
}
