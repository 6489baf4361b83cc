import { Type } from 'typebox'
import { notFound } from '../../contract/problem.ts'
import { SCOPE_VALUES, type Scope } from '../../contract/scopes.ts'
import { RANGE_PATTERN } from '../../platform/addresses.ts'
import type { Actor } from '../../platform/http/index.ts'
import {
  type App,
  filterField,
  forOperators,
  IdParam,
  listAnswer,
  listOf,
  NameField,
  NullableInteger,
  NullableText,
  nullable,
  PageQuery,
  pageOf,
  strict,
} from '../../platform/http/index.ts'
import { type CountTokens, requireProject } from '../projects/index.ts'
import { type ApiKeyRow, findApiKey, listApiKeyRows } from './api-key.store.ts'
import { apiKeyView } from './api-key.ts'
import {
  blockApiKey,
  deleteApiKey,
  regenerateApiKey,
  revokeTokensOfApiKey,
  unblockApiKey,
  updateApiKey,
} from './api-key-changes.ts'
import type { ChangeDeps, KeyRequest } from './change-api-key.ts'
import { createApiKey } from './create-api-key.ts'

const State = Type.Unsafe<'active' | 'blocked' | 'deleted'>({
  type: 'string',
  enum: ['active', 'blocked', 'deleted'],
})

const shownFields = {
  id: Type.String(),
  object: Type.Literal('api_key'),
  project_id: Type.String(),
  name: Type.String(),
  app_id: Type.String(),
  app_token_last4: Type.String(),
  client_id: Type.String(),
  permissions: Type.Array(Type.String()),
  ip_whitelist: Type.Array(Type.String()),
  token_limit: NullableInteger,
  state: State,
  active_tokens: Type.Integer(),
  created_at: Type.String(),
  updated_at: Type.String(),
  regenerated_at: NullableText,
  last_used_at: NullableText,
}
const ApiKey = Type.Object(shownFields)
const ApiKeyWithSecret = Type.Object({
  ...shownFields,
  app_token: Type.String({ description: 'Shown this once.' }),
})

const RANGE_RULE = 'must be an address such as 10.0.0.4 or 2001:db8::1, or a range such as 10.0.0.0/8'

const settable = {
  permissions: Type.Optional(
    Type.Array(Type.Unsafe<Scope>({ type: 'string', enum: SCOPE_VALUES }), {
      minItems: 1,
      maxItems: SCOPE_VALUES.length,
      description: 'Scope values that the key may ask for. Default: `api`.',
    }),
  ),
  ip_whitelist: Type.Optional(
    Type.Array(Type.String({ pattern: RANGE_PATTERN, 'x-says': RANGE_RULE }), {
      maxItems: 200,
      description: 'Addresses and CIDR ranges; empty allows all.',
    }),
  ),
  token_limit: Type.Optional(
    nullable<number>('integer', {
      minimum: 1,
      maximum: 1000,
      description: 'A limit of its own, so that it cannot starve its project; null for none.',
    }),
  ),
}

const ProjectParams = Type.Object({ project_id: IdParam })
const Params = Type.Object({ project_id: IdParam, key_id: IdParam })

interface Deps extends ChangeDeps {
  readonly countTokens: CountTokens
}

export function apiKeyRoutes(app: App, deps: Deps): void {
  const tags = ['API keys']
  const path = '/management/v1/projects/:project_id/api-keys'

  async function activeTokens(projectId: string): Promise<(key: ApiKeyRow) => number> {
    const counts = await deps.countTokens([projectId])
    const byKey = new Map(counts.map(({ key_id, count }) => [key_id, count]))
    return (key) => byKey.get(key.id) ?? 0
  }
  const shown = async (row: ApiKeyRow) => apiKeyView(row, (await activeTokens(row.project_id))(row))
  const asked = (request: { params: { project_id: string; key_id: string }; actor: Actor }): KeyRequest => ({
    projectId: request.params.project_id,
    keyId: request.params.key_id,
    actor: request.actor,
  })

  app.get(
    path,
    {
      config: forOperators('viewer'),
      schema: {
        tags,
        operationId: 'key.list',
        summary: 'List the API keys of a project, newest first',
        description: 'Deleted keys are left out unless `state=deleted` is asked for.',
        params: ProjectParams,
        querystring: strict({ ...PageQuery, state: Type.Optional(State), name: filterField('Exact name.') }),
        response: { 200: listOf(ApiKey) },
        'x-columns': ['id', 'name', 'state', 'permissions', 'active_tokens', 'last_used_at'],
      },
    },
    async (request) => {
      const project = await requireProject(deps.db, request.params.project_id)
      const page = pageOf(request.query)
      const rows = await listApiKeyRows(deps.db, { ...request.query, projectId: project.id }, page)
      const tokensOf = await activeTokens(project.id)
      return listAnswer(rows, page, { item: (row) => apiKeyView(row, tokensOf(row)) })
    },
  )

  app.post(
    path,
    {
      config: forOperators('editor'),
      schema: {
        tags,
        operationId: 'key.create',
        summary: 'Create an API key; its secret is shown once',
        params: ProjectParams,
        body: strict(
          { name: NameField, ...settable },
          { examples: [{ name: 'till', permissions: ['loyalties', 'rewards'] }] },
        ),
        response: { 201: ApiKeyWithSecret },
      },
    },
    async (request, reply) => {
      const wanted = { ...request.body, projectId: request.params.project_id, actor: request.actor }
      const { row, appToken } = await createApiKey(deps, wanted)
      return reply.code(201).send({ ...apiKeyView(row, 0), app_token: appToken })
    },
  )

  app.get(
    `${path}/:key_id`,
    {
      config: forOperators('viewer'),
      schema: {
        tags,
        operationId: 'key.show',
        summary: 'Read an API key',
        params: Params,
        response: { 200: ApiKey },
      },
    },
    async (request) => {
      const { project_id, key_id } = request.params
      await requireProject(deps.db, project_id)
      const row = await findApiKey(deps.db, project_id, key_id)
      if (!row) throw notFound('api_key', key_id)
      return shown(row)
    },
  )

  app.patch(
    `${path}/:key_id`,
    {
      config: forOperators('editor'),
      schema: {
        tags,
        operationId: 'key.update',
        summary: 'Change name, permissions, whitelist or limit; live tokens follow',
        params: Params,
        body: strict({ name: Type.Optional(NameField), ...settable }, { minProperties: 1 }),
        response: { 200: ApiKey },
      },
    },
    async (request) => shown(await updateApiKey(deps, asked(request), request.body)),
  )

  app.delete(
    `${path}/:key_id`,
    {
      config: forOperators('editor'),
      schema: {
        tags,
        operationId: 'key.delete',
        summary: 'Delete an API key; its tokens are dead at once',
        description: 'It stays readable in the state `deleted`.',
        params: Params,
        response: { 200: ApiKey },
      },
    },
    async (request) => shown(await deleteApiKey(deps, asked(request))),
  )

  const verbs = [
    { verb: 'block', run: blockApiKey, summary: 'Block an API key; its tokens are dead at once and stay so' },
    { verb: 'unblock', run: unblockApiKey, summary: 'Unblock an API key; it may issue new tokens' },
    {
      verb: 'revoke-tokens',
      run: revokeTokensOfApiKey,
      summary: 'Kill all live tokens of an API key without blocking it',
    },
  ]
  for (const { verb, run, summary } of verbs)
    app.post(
      `${path}/:key_id/${verb}`,
      {
        config: forOperators('editor'),
        schema: { tags, operationId: `key.${verb}`, summary, params: Params, response: { 200: ApiKey } },
      },
      async (request) => shown(await run(deps, asked(request))),
    )

  app.post(
    `${path}/:key_id/regenerate`,
    {
      config: forOperators('editor'),
      schema: {
        tags,
        operationId: 'key.regenerate',
        summary: 'Replace the secret; it is shown once, and live tokens stay',
        params: Params,
        body: Type.Optional(
          strict({
            grace_seconds: Type.Optional(
              Type.Integer({
                minimum: 0,
                maximum: 86_400,
                description: 'How long the secret before this one still counts. Default: 0.',
              }),
            ),
          }),
        ),
        response: { 200: ApiKeyWithSecret },
      },
    },
    async (request) => {
      const graceSeconds = request.body?.grace_seconds ?? 0
      const { row, appToken } = await regenerateApiKey(deps, { ...asked(request), graceSeconds })
      return { ...(await shown(row)), app_token: appToken }
    },
  )
}
