import { Type } from 'typebox'
import { tokenIdOf } from '../../contract/ids.ts'
import { notFound } from '../../contract/problem.ts'
import type { Database, Transaction } from '../../platform/database/index.ts'
import {
  type App,
  filterField,
  forOperators,
  IdParam,
  isoTime,
  listAnswer,
  listOf,
  Nothing,
  NullableInteger,
  PageQuery,
  pageOf,
  strict,
} from '../../platform/http/index.ts'
import type { RandomBytes } from '../../platform/secrets.ts'
import { findApiKey } from '../api-keys/index.ts'
import { recordChange } from '../audit/index.ts'
import { requireProject } from '../projects/index.ts'
import { revokeToken } from './revoke-token.ts'
import { countActiveTokens, countExpiring, findTokenByDigestRange, listActiveTokens } from './token.store.ts'
import type { TokenRow } from './token.ts'
import { digestRange, LIFETIME_MS, secondsLeft } from './token.ts'
import type { TokenCache } from './token-cache.ts'

const Token = Type.Object({
  id: Type.String(),
  object: Type.Literal('token'),
  project_id: Type.String(),
  key_id: Type.String(),
  client_id: Type.String(),
  scope: Type.String(),
  issued_at: Type.String({ description: 'Time of issuing, in whole seconds.' }),
  expires_at: Type.Integer({ description: 'Unix time in seconds.' }),
  expires_in: Type.Integer(),
})

const Usage = Type.Object({
  object: Type.Literal('token_usage'),
  project_id: Type.String(),
  active_tokens: Type.Integer(),
  token_limit: Type.Integer(),
  next_free_in: NullableInteger,
  expiring: Type.Array(Type.Integer(), {
    description: 'Tokens that expire in each of the next 15 minutes, unless they are revoked before.',
  }),
  keys: Type.Array(
    Type.Object({
      key_id: Type.String(),
      name: Type.String(),
      active_tokens: Type.Integer(),
      token_limit: NullableInteger,
      next_free_in: Type.Integer({ description: 'Seconds until the oldest token expires.' }),
    }),
  ),
})

const ProjectParams = Type.Object({ project_id: IdParam })

interface Deps {
  readonly db: Database
  readonly random: RandomBytes
  readonly tokenCache: TokenCache
}

/** Tokens in the management API, without their value, which only the client has. */
export function tokenRoutes(app: App, deps: Deps): void {
  const tags = ['tokens']
  const { db, tokenCache } = deps
  const path = '/management/v1/projects/:project_id/tokens'

  const view = (now: number) => (row: TokenRow & { client_id: string }) => ({
    id: tokenIdOf(row.digest),
    object: 'token' as const,
    project_id: row.project_id,
    key_id: row.key_id,
    client_id: row.client_id,
    scope: row.scope,
    issued_at: isoTime(row.expires_at - LIFETIME_MS),
    expires_at: row.expires_at / 1000,
    expires_in: secondsLeft(row.expires_at, now),
  })

  app.get(
    path,
    {
      config: forOperators('viewer'),
      schema: {
        tags,
        operationId: 'token.list',
        summary: 'List active tokens, newest first, without their values',
        params: ProjectParams,
        querystring: strict({ ...PageQuery, key: filterField('Id of an API key.') }),
        response: { 200: listOf(Token) },
        'x-columns': ['id', 'key_id', 'scope', 'issued_at', 'expires_in'],
      },
    },
    async (request) => {
      const project = await requireProject(db, request.params.project_id)
      const page = pageOf(request.query)
      const now = tokenCache.databaseClock.now()
      const rows = await listActiveTokens(db, { projectId: project.id, keyId: request.query.key, now }, page)
      return listAnswer(rows, page, { item: view(now) })
    },
  )

  app.delete(
    `${path}/:token_id`,
    {
      config: forOperators('editor'),
      schema: {
        tags,
        operationId: 'token.revoke',
        summary: 'Revoke one token',
        params: Type.Object({ project_id: IdParam, token_id: IdParam }),
        response: { 204: Nothing },
      },
    },
    async (request, reply) => {
      const { project_id, token_id } = request.params
      await requireProject(db, project_id)
      const range = digestRange(token_id)
      const token = range && (await findTokenByDigestRange(db, project_id, range))
      if (!token) throw notFound('token', token_id)
      const record = (tx: Transaction) =>
        recordChange(deps, tx, {
          actor: request.actor,
          action: 'token.revoked',
          projectId: project_id,
          subject: { type: 'token', id: token_id },
          before: { scope: token.scope, key_id: token.key_id },
          after: null,
        })
      if (!(await revokeToken(db, { projectId: project_id, digest: token.digest }, { record })))
        throw notFound('token', token_id)
      tokenCache.markRevoked(token.digest)
      return reply.code(204).send(null)
    },
  )

  app.get(
    '/management/v1/projects/:project_id/token-usage',
    {
      config: forOperators('viewer'),
      schema: {
        tags,
        operationId: 'token.usage',
        summary: 'Show active tokens per key, and when the next expire',
        params: ProjectParams,
        response: { 200: Usage },
      },
    },
    async (request) => {
      const project = await requireProject(db, request.params.project_id)
      const now = tokenCache.databaseClock.now()
      const counts = await countActiveTokens(db, now, [project.id])
      counts.sort((a, b) => b.count - a.count)
      const keys = await Promise.all(
        counts.map(async ({ key_id, count, oldest_expires_at }) => {
          const key = await findApiKey(db, project.id, key_id)
          const next_free_in = secondsLeft(oldest_expires_at, now)
          return {
            key_id,
            name: key?.name ?? '',
            active_tokens: count,
            token_limit: key?.token_limit ?? null,
            next_free_in,
          }
        }),
      )
      return {
        object: 'token_usage' as const,
        project_id: project.id,
        active_tokens: counts.reduce((sum, { count }) => sum + count, 0),
        token_limit: project.token_limit,
        next_free_in: keys.length === 0 ? null : Math.min(...keys.map((key) => key.next_free_in)),
        expiring: await countExpiring(db, project.id, now),
        keys,
      }
    },
  )
}
