import { Type } from 'typebox'
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
  type Page,
  pageOf,
  strict,
} from '../../platform/http/index.ts'
import { type AuditFilter, type AuditRow, listAuditRows } from './audit.store.ts'

const AnyOrNull = Type.Unsafe<unknown>({ description: 'Public view of the resource, without secrets.' })

const AuditEntry = Type.Object({
  id: Type.String(),
  object: Type.Literal('audit_entry'),
  at: Type.String(),
  actor: Type.Object({ type: Type.String(), id: Type.String() }),
  actor_name: Type.Unsafe<string | null>({
    ...NullableText,
    description: 'Present name of the operator or API key; null if it is gone, and for the service itself.',
  }),
  via: Type.Unsafe<string>({
    type: 'string',
    enum: ['session', 'token', 'local'],
    description:
      'How the change came in: `session` from a browser, `token` with the credential of an operator or API key, `local` from the service itself or from the command line on its machine.',
  }),
  address: NullableText,
  action: Type.String(),
  project_id: NullableText,
  subject: Type.Object({ type: Type.String(), id: Type.String() }),
  before: AnyOrNull,
  after: AnyOrNull,
  request_id: NullableText,
})

const Filter = strict({
  ...CursorQuery,
  action: filterField('For example `api_key.blocked`.'),
  actor: filterField('Id of the operator or API key that made the change.'),
  subject: filterField('Id of the changed resource.'),
})

const view = (row: AuditRow, names: Names) => ({
  id: row.id,
  object: 'audit_entry' as const,
  at: isoTime(row.at),
  actor: { type: row.actor_type, id: row.actor_id },
  actor_name: names.get(row.actor_id) ?? null,
  via: row.via ?? (row.actor_type === 'system' ? 'local' : 'token'),
  address: row.address,
  action: row.action,
  project_id: row.project_id,
  subject: { type: row.subject_type, id: row.subject_id },
  before: row.before === null ? null : JSON.parse(row.before),
  after: row.after === null ? null : JSON.parse(row.after),
  request_id: row.request_id,
})

type Names = ReadonlyMap<string, string>

interface Deps {
  readonly db: Database
  /** Names of operators and API keys by id. */
  readonly nameActors: (
    actors: readonly { readonly type: string; readonly id: string; readonly projectId: string | null }[],
  ) => Promise<Names>
}

/** Does not require that the project exists, because the log of a deleted project stays readable. */
export function auditRoutes(app: App, { db, nameActors }: Deps): void {
  async function answer(filter: AuditFilter, page: Page) {
    const found = await listAuditRows(db, filter, page)
    const names = await nameActors(
      found.rows.map(({ actor_type: type, actor_id: id, project_id: projectId }) => ({
        type,
        id,
        projectId,
      })),
    )
    return listAnswer(found, page, {
      item: (row: AuditRow) => view(row, names),
      position: (row: AuditRow) => row,
    })
  }

  const common = {
    tags: ['audit'],
    querystring: Filter,
    response: { 200: listOf(AuditEntry) },
    'x-columns': ['at', 'action', 'subject', 'actor', 'project_id', 'address'],
  }

  app.get(
    '/management/v1/audit-log',
    {
      config: forOperators('viewer', 'all'),
      schema: {
        ...common,
        operationId: 'audit.list',
        summary: 'List changes, newest first',
        description: '`total` counts up to 10,000.',
      },
    },
    async ({ query }) => answer(query, pageOf(query)),
  )

  app.get(
    '/management/v1/projects/:project_id/audit-log',
    {
      config: forOperators('viewer'),
      schema: {
        ...common,
        params: Type.Object({ project_id: IdParam }),
        operationId: 'audit.list-of-project',
        summary: 'List changes in a project, newest first',
      },
    },
    async ({ query, params }) => answer({ ...query, projectId: params.project_id }, pageOf(query)),
  )
}
