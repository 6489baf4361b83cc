import { isIP } from 'node:net'
import { Type } from 'typebox'
import { Problem } from '../../contract/problem.ts'
import type { Database } from '../../platform/database/index.ts'
import { type App, forOperators, NullableText, strict } from '../../platform/http/index.ts'
import type { TokenCache } from '../tokens/index.ts'
import { checkAccess } from './check-access.ts'

export const CommandText = Type.Unsafe<string | null>({
  ...NullableText,
  description: 'The command of the remedy; null if none fixes it.',
})

const Answer = Type.Object({
  object: Type.Literal('access_check'),
  allowed: Type.Boolean(),
  required_scope: NullableText,
  steps: Type.Array(Type.Object({ step: Type.String(), passed: Type.Boolean(), says: Type.String() })),
  remedy: NullableText,
  command: CommandText,
  response: Type.Object(
    {
      status: Type.Integer({ description: 'Status of the response.' }),
      headers: Type.Record(Type.String(), Type.String(), { description: 'Headers about the decision.' }),
      body: Type.Unsafe<object | null>({
        type: ['object', 'null'],
        additionalProperties: true,
        description: 'The error without its `request_id`; null if the call is allowed.',
      }),
    },
    { description: 'Response of the gateway to this call. The API itself may refuse it in the same way.' },
  ),
})

interface Deps {
  readonly db: Database
  readonly tokenCache: TokenCache
  readonly publicUrl: () => string
}

export function accessRoutes(app: App, deps: Deps): void {
  app.post(
    '/management/v1/access-checks',
    {
      config: forOperators('viewer', 'any'),
      schema: {
        tags: ['access'],
        operationId: 'access.check',
        summary: 'Check whether a token or key is allowed to call a path',
        description:
          'Send `access_token` or `app_id`. Returns the result of every check, how to fix the first that failed, and the response that the caller gets.',
        body: strict(
          {
            access_token: Type.Optional(Type.String({ maxLength: 500 })),
            app_id: Type.Optional(Type.String({ maxLength: 100 })),
            path: Type.String({ minLength: 1, maxLength: 8000 }),
            address: Type.Optional(
              Type.String({
                maxLength: 100,
                anyOf: [{ format: 'ipv4' }, { format: 'ipv6' }],
                description: 'IPv4 or IPv6 address of the client.',
              }),
            ),
          },
          {
            oneOf: [{ required: ['access_token'] }, { required: ['app_id'] }],
            'x-says': 'must contain either access_token or app_id',
            'x-key': 'missing_parameters',
          },
        ),
        response: { 200: Answer },
      },
    },
    async (request) => {
      const { address } = request.body
      if (address !== undefined && isIP(address) === 0)
        throw new Problem('invalid_payload', {
          message: `address: ${JSON.stringify(address)} is not an IP address.`,
          details: 'Send one address, such as 10.0.0.4 or 2001:db8::4.',
        })
      return {
        object: 'access_check' as const,
        ...(await checkAccess(deps, { ...request.body, projects: request.operator.projects })),
      }
    },
  )
}
