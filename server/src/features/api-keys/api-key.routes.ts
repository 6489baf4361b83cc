import { Type } from 'typebox'
import { notFound } from '../../contract/problem.ts'
import type { Actor } from '../../platform/http/index.ts'
import {
  type App,
  filterField,
  forOperators,
  listAnswer,
  listOf,
  NameField,
  PageQuery,
  pageOf,
  strict,
} from '../../platform/http/index.ts'
import { type CountTokens, requireProject } from '../projects/index.ts'
import {
  ApiKey,
  ApiKeyWithSecret,
  BlockBody,
  ChangedApiKey,
  Params,
  ProjectParams,
  State,
  settable,
} from './api-key.schemas.ts'
import { type ApiKeyRow, findApiKey } from './api-key.store.ts'
import { apiKeyView } from './api-key.ts'
import {
  blockApiKey,
  deleteApiKey,
  regenerateApiKey,
  revokeTokensOfApiKey,
  unblockApiKey,
  updateApiKey,
} from './api-key-changes.ts'
import type { ChangeDeps, ChangedKey, KeyRequest } from './change-api-key.ts'
import { createApiKey } from './create-api-key.ts'
import { listApiKeys } from './list-api-keys.ts'
import { type WaitForPropagation, WaitQuery } from './propagation.ts'

interface Deps extends ChangeDeps {
  readonly countTokens: CountTokens
  /** Requests of keys of a project in the last 24 hours, by id. */
  readonly keyUse: (
    projectId: string,
    ids: readonly string[],
  ) => Promise<ReadonlyMap<string, { readonly requests: number; readonly refused: number }>>
  readonly waitForPropagation: WaitForPropagation
}

export function apiKeyRoutes(app: App, deps: Deps): void {
  const tags = ['API keys']
  const path = '/management/v1/projects/:project_id/api-keys'

  async function activeTokens(projectId: string): Promise<(key: ApiKeyRow) => number> {
    const counts = await deps.countTokens([projectId])
    const byKey = new Map(counts.map(({ key_id, count }) => [key_id, count]))
    return (key) => byKey.get(key.id) ?? 0
  }
  async function viewsOf(
    projectId: string,
    rows: readonly ApiKeyRow[],
  ): Promise<(row: ApiKeyRow) => ReturnType<typeof apiKeyView>> {
    const [tokensOf, uses, now] = await Promise.all([
      activeTokens(projectId),
      deps.keyUse(
        projectId,
        rows.map(({ id }) => id),
      ),
      deps.db.now(),
    ])
    const unused = { requests: 0, refused: 0 }
    return (row) => apiKeyView(row, { activeTokens: tokensOf(row), usage: uses.get(row.id) ?? unused, now })
  }
  const shown = async (row: ApiKeyRow) => (await viewsOf(row.project_id, [row]))(row)
  const asked = (request: { params: { project_id: string; key_id: string }; actor: Actor }): KeyRequest => ({
    projectId: request.params.project_id,
    keyId: request.params.key_id,
    actor: request.actor,
  })
  const stopping = new AbortController()
  app.addHook('preClose', async () => stopping.abort())
  const spread = async (
    { row, keyStateVersion: version }: ChangedKey,
    {
      query,
      signal,
      operator,
    }: { query: { wait_ms?: number }; signal: AbortSignal; operator: { projects: readonly string[] | null } },
  ) => {
    const propagation = await deps.waitForPropagation({
      version,
      waitMs: query.wait_ms ?? 0,
      signal: AbortSignal.any([signal, stopping.signal]),
    })
    // Hosts are part of the service, which an operator of some projects does not see.
    const by_process = operator.projects === null ? propagation.by_process : []
    return { ...(await shown(row)), propagation: { ...propagation, by_process } }
  }

  app.get(
    path,
    {
      config: forOperators('viewer'),
      schema: {
        tags,
        operationId: 'key.list',
        summary: 'List the API keys of a project, newest first',
        description: 'Deleted keys are listed only with `state=deleted`.',
        params: ProjectParams,
        querystring: strict({
          ...PageQuery,
          state: Type.Optional(State),
          name: filterField('Exact name.'),
          app_id: filterField('App id.'),
          address: Type.Optional(
            Type.String({
              maxLength: 100,
              anyOf: [{ format: 'ipv4' }, { format: 'ipv6' }],
              description: 'IPv4 or IPv6 address: only keys that may be used from it.',
            }),
          ),
        }),
        response: { 200: listOf(ApiKey) },
        'x-columns': [
          'id',
          'name',
          'state',
          'permissions',
          'active_tokens',
          'last_used_at',
          'last_used_from',
        ],
      },
    },
    async (request) => {
      const project = await requireProject(deps.db, request.params.project_id)
      const page = pageOf(request.query)
      const rows = await listApiKeys(deps.db, { ...request.query, projectId: project.id }, page)
      return listAnswer(rows, page, { item: await viewsOf(project.id, rows.rows) }) as never
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
      return reply.code(201).send({ ...(await shown(row)), app_token: appToken } as never)
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
        summary: 'Update name, permissions, IP allowlist or limit; applies to active tokens too',
        params: Params,
        querystring: WaitQuery,
        body: strict({ name: Type.Optional(NameField), ...settable }, { minProperties: 1 }),
        response: { 200: ChangedApiKey },
      },
    },
    async (request) => spread(await updateApiKey(deps, asked(request), request.body), request),
  )

  app.delete(
    `${path}/:key_id`,
    {
      config: forOperators('editor'),
      schema: {
        tags,
        operationId: 'key.delete',
        summary: 'Delete an API key; its tokens stop working immediately',
        description: 'The key stays readable with state `deleted`.',
        params: Params,
        response: { 200: ApiKey },
      },
    },
    async (request) => shown((await deleteApiKey(deps, asked(request))).row),
  )

  app.post(
    `${path}/:key_id/block`,
    {
      config: forOperators('editor'),
      schema: {
        tags,
        operationId: 'key.block',
        summary: 'Block an API key; its tokens stop working permanently',
        params: Params,
        querystring: WaitQuery,
        body: BlockBody,
        response: { 200: ChangedApiKey },
      },
    },
    async (request) =>
      spread(await blockApiKey(deps, { ...asked(request), reason: request.body?.reason }), request),
  )

  const verbs = [
    { verb: 'unblock', run: unblockApiKey, summary: 'Unblock an API key; it can issue new tokens' },
    {
      verb: 'revoke-tokens',
      run: revokeTokensOfApiKey,
      summary: 'Revoke all active tokens of an API key without blocking it',
    },
  ]
  for (const { verb, run, summary } of verbs)
    app.post(
      `${path}/:key_id/${verb}`,
      {
        config: forOperators('editor'),
        schema: {
          tags,
          operationId: `key.${verb}`,
          summary,
          params: Params,
          querystring: WaitQuery,
          response: { 200: ChangedApiKey },
        },
      },
      async (request) => spread(await run(deps, asked(request)), request),
    )

  app.post(
    `${path}/:key_id/regenerate`,
    {
      config: forOperators('editor'),
      schema: {
        tags,
        operationId: 'key.regenerate',
        summary: 'Replace the secret, which is shown once; active tokens stay valid',
        params: Params,
        body: Type.Optional(
          strict({
            grace_seconds: Type.Optional(
              Type.Integer({
                minimum: 0,
                maximum: 86_400,
                description: 'How long the previous secret still works. Default: 0.',
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
