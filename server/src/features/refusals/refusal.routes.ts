import { Type } from 'typebox'
import { Problem } from '../../contract/problem.ts'
import type { Database } from '../../platform/database/index.ts'
import {
  type App,
  CursorQuery,
  filterField,
  forOperators,
  IdParam,
  isoTime,
  listAnswer,
  listOf,
  NullableText,
  pageOf,
  strict,
} from '../../platform/http/index.ts'
import { requireProject } from '../projects/index.ts'
import { findRefusal, listRefusalRows, type RefusalRow } from './refusal.store.ts'
import { checksUpTo } from './steps.ts'

const Refusal = Type.Object({
  request_id: Type.String(),
  object: Type.Literal('refusal'),
  at: Type.String(),
  method: Type.String(),
  path: Type.String(),
  status: Type.Integer(),
  key: Type.String(),
  step: Type.String({ description: 'Check that failed.' }),
  steps: Type.Array(Type.Object({ step: Type.String(), passed: Type.Boolean(), says: Type.String() })),
  remedy: Type.String(),
  command: Type.Unsafe<string | null>({
    ...NullableText,
    description: 'The command of the remedy; null if none fixes it.',
  }),
  project_id: NullableText,
  key_id: NullableText,
  address: NullableText,
  socket_address: Type.String({ description: 'Peer address of the socket.' }),
  forwarded: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: '`X-Forwarded-For` as received. Used only if it comes from a trusted proxy.',
  }),
  original_path: Type.Unsafe<string | null>({
    ...NullableText,
    description: 'The path that a proxy asked the gateway about; null for other requests.',
  }),
  required_scope: Type.Unsafe<string | null>({
    ...NullableText,
    description: 'The scope that the call lacked; null if another check failed.',
  }),
})

function view(row: RefusalRow) {
  const { project_id, at, ...rest } = row
  return {
    ...rest,
    ...checksUpTo(row.step, { keyId: row.key_id, requiredScope: row.required_scope }),
    object: 'refusal' as const,
    at: isoTime(at),
    project_id: project_id === '' ? null : project_id,
  }
}

/** Flushes the recorder first, so that a refusal can be looked up right after its response. */
export function refusalRoutes(app: App, { db, flush }: { db: Database; flush: () => Promise<void> }): void {
  const tags = ['refusals']

  app.get(
    '/management/v1/refusals/:request_id',
    {
      config: forOperators('viewer', 'any'),
      schema: {
        tags,
        operationId: 'refusal.show',
        summary: 'Explain why a request was refused',
        description:
          'Refusals (401, 403, 429) are kept for 24 hours, at most 10,000 per project. Repeats of one key and reason are sampled: the first 100, then 6 per minute.',
        params: Type.Object({ request_id: IdParam }),
        response: { 200: Refusal },
      },
    },
    async (request) => {
      await flush()
      const { request_id } = request.params
      const row = await findRefusal(db, request_id)
      // A refusal without a project has an empty one, which no list of projects names.
      if (row && (request.operator.projects?.includes(row.project_id) ?? true)) return view(row)
      throw new Problem('not_found', {
        message: `No refusal is recorded for ${JSON.stringify(request_id.slice(0, 80))}.`,
        details:
          'Refusals (401, 403, 429) are kept for 24 hours; repeats are sampled at 6 per minute. Other errors explain themselves in the response. List refusals: jeton refusal list',
        resource: { type: 'refusal', id: request_id.slice(0, 80) },
      })
    },
  )

  app.get(
    '/management/v1/projects/:project_id/refusals',
    {
      config: forOperators('viewer'),
      schema: {
        tags,
        operationId: 'refusal.list',
        summary: 'List the refusals of a project, newest first',
        params: Type.Object({ project_id: IdParam }),
        querystring: strict({ ...CursorQuery, key: filterField('Id of an API key.') }),
        response: { 200: listOf(Refusal) },
        'x-columns': ['at', 'request_id', 'status', 'step', 'address', 'key_id'],
      },
    },
    async (request) => {
      const project = await requireProject(db, request.params.project_id)
      await flush()
      const page = pageOf(request.query)
      const position = (row: RefusalRow) => ({ at: row.at, id: row.request_id })
      const of = { projectId: project.id, keyId: request.query.key }
      return listAnswer(await listRefusalRows(db, of, page), page, { item: view, position })
    },
  )
}
