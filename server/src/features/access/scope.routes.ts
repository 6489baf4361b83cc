import { Type } from 'typebox'
import { SCOPE_VALUES, SCOPES, type Side } from '../../contract/scopes.ts'
import { type App, forOperators } from '../../platform/http/index.ts'

const PREFIX: Readonly<Record<Side, string>> = { server: '/v1', client: '/client/v1' }

const ScopeSchema = Type.Object({
  object: Type.Literal('scope'),
  name: Type.String({ description: 'Name, as in `permissions` and `scope`.' }),
  side: Type.String({ description: '`server` for `/v1`, `client` for `/client/v1`.' }),
  path: Type.String({ description: 'Paths that it opens; `*` stands for every path of its side.' }),
})

const LIST = {
  object: 'list' as const,
  data_ref: 'data' as const,
  data: SCOPE_VALUES.map((name) => ({
    object: 'scope' as const,
    name,
    side: SCOPES[name].side,
    path: `${PREFIX[SCOPES[name].side]}/${SCOPES[name].segment}`,
  })),
  total: SCOPE_VALUES.length,
}

/** The scopes, for programs that let people choose. */
export function scopeRoutes(app: App): void {
  app.get(
    '/management/v1/scopes',
    {
      config: forOperators('viewer', 'any'),
      schema: {
        tags: ['API keys'],
        operationId: 'scope.list',
        summary: 'List the scopes and the paths that each opens',
        description: 'The same for every project. All of them are in one page.',
        response: {
          200: Type.Object({
            object: Type.Literal('list'),
            data_ref: Type.Literal('data'),
            data: Type.Array(ScopeSchema),
            total: Type.Integer(),
          }),
        },
        'x-columns': ['name', 'path'],
      },
    },
    async () => LIST,
  )
}
