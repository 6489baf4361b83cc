import { Type } from 'typebox'
import { tokenIdOf } from '../../contract/ids.ts'
import { type App, forOperators, IdParam, isoTime, NullableText, strict } from '../../platform/http/index.ts'
import { requireProject } from '../projects/index.ts'
import { LIFETIME_MS } from '../tokens/index.ts'
import { CommandText } from './access.routes.ts'
import { type CheckDeps, type FoundToken, findToken, outcomeOf, tokenSteps } from './check-access.ts'

const FoundTokenSchema = Type.Object({
  id: Type.String({ description: 'Id of the token, which is not the token itself.' }),
  key_id: Type.String(),
  key_name: Type.String({ description: 'Name of the API key.' }),
  client_id: Type.String(),
  scope: Type.String(),
  issued_at: Type.String({ description: 'The whole second of issuing.' }),
  expires_at: Type.String(),
})

const TokenCheck = Type.Object({
  object: Type.Literal('token_check'),
  active: Type.Boolean({ description: 'Whether the token is active.' }),
  steps: Type.Array(Type.Object({ step: Type.String(), passed: Type.Boolean(), says: Type.String() })),
  remedy: NullableText,
  command: CommandText,
  token: Type.Unsafe<Partial<ReturnType<typeof tokenView>> | null>({
    ...FoundTokenSchema,
    type: ['object', 'null'],
    description: 'The token without its value; null if it is unknown.',
  }),
})

const tokenView = ({ token, key }: Required<FoundToken>) =>
  token && key
    ? {
        id: tokenIdOf(token.digest),
        key_id: key.id,
        key_name: key.name,
        client_id: key.client_id,
        scope: token.scope,
        issued_at: isoTime(token.expires_at - LIFETIME_MS),
        expires_at: isoTime(token.expires_at),
      }
    : null

/** A token comes in the body alone: URLs end up in logs. It is neither stored nor returned. */
export function tokenCheckRoutes(app: App, deps: CheckDeps): void {
  app.post(
    '/management/v1/projects/:project_id/token-checks',
    {
      config: forOperators('viewer'),
      schema: {
        tags: ['tokens'],
        operationId: 'token.check',
        summary: 'Is this token active, and if not, why?',
        description:
          'Checks a token step by step, from the store and not from a cache. Returns whose it is. The token itself is neither logged nor returned.',
        params: Type.Object({ project_id: IdParam }),
        body: strict(
          { access_token: Type.String({ minLength: 1, maxLength: 500 }) },
          { examples: [{ access_token: '$TOKEN' }] },
        ),
        response: { 200: TokenCheck },
        'x-columns': ['active', 'remedy', 'token', 'steps'],
      },
    },
    async ({ params, body }) => {
      const { id: projectId } = await requireProject(deps.db, params.project_id)
      const found = await findToken(deps, body.access_token, (id) => id === projectId)
      const asked = { question: {}, needed: null, inProject: true }
      const { passed: active, ...shown } = outcomeOf(tokenSteps(deps, found, asked))
      return { object: 'token_check' as const, active, ...shown, token: tokenView(found) }
    },
  )
}
