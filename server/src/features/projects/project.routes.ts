import { Type } from 'typebox'
import type { Database, Transaction } from '../../platform/database/index.ts'
import {
  type App,
  filterField,
  forOperators,
  IdParam,
  listAnswer,
  listOf,
  NameField,
  Nothing,
  PageQuery,
  pageOf,
  strict,
} from '../../platform/http/index.ts'
import type { RandomBytes } from '../../platform/secrets.ts'
import { createProject } from './create-project.ts'
import { deleteProject } from './delete-project.ts'
import { listProjectRows, type ProjectRow } from './project.store.ts'
import { projectView } from './project.ts'
import { renameProject } from './rename-project.ts'
import { requireProject } from './require-project.ts'

/** Counts active tokens, one row per key that has some. */
export type CountTokens = (
  projectIds: readonly string[],
) => Promise<readonly { project_id: string; key_id: string; count: number }[]>

interface Deps {
  readonly db: Database
  readonly random: RandomBytes
  readonly countTokens: CountTokens
  readonly markContents: (tx: Transaction, projectId: string) => Promise<void>
  readonly onDelete: (projectId: string) => void
}

const Project = Type.Object({
  id: Type.String(),
  object: Type.Literal('project'),
  name: Type.String(),
  token_limit: Type.Integer(),
  active_tokens: Type.Integer(),
  created_at: Type.String(),
  updated_at: Type.String(),
})
const Params = Type.Object({ project_id: IdParam })

export function projectRoutes(app: App, deps: Deps): void {
  const tags = ['projects']

  async function withTokens(rows: readonly ProjectRow[]) {
    const counts = rows.length === 0 ? [] : await deps.countTokens(rows.map((row) => row.id))
    const sums = new Map<string, number>()
    for (const { project_id, count } of counts) sums.set(project_id, (sums.get(project_id) ?? 0) + count)
    return rows.map((row) => projectView(row, sums.get(row.id) ?? 0))
  }
  const shown = async (row: ProjectRow) => (await withTokens([row]))[0]!

  app.get(
    '/management/v1/projects',
    {
      config: forOperators('viewer', 'any'),
      schema: {
        tags,
        operationId: 'project.list',
        summary: 'List projects, newest first',
        querystring: strict({ ...PageQuery, name: filterField('Exact name.') }),
        response: { 200: listOf(Project) },
        'x-columns': ['id', 'name', 'active_tokens', 'token_limit', 'created_at'],
      },
    },
    async (request) => {
      const page = pageOf(request.query)
      const filter = { name: request.query.name, ids: request.operator.projects }
      const { rows, total } = await listProjectRows(deps.db, page, filter)
      return listAnswer({ rows: await withTokens(rows), total }, page, { item: (view) => view })
    },
  )

  app.post(
    '/management/v1/projects',
    {
      config: forOperators('admin'),
      schema: {
        tags,
        operationId: 'project.create',
        summary: 'Create a project',
        body: strict({ name: NameField }),
        response: { 201: Project },
      },
    },
    async (request, reply) => {
      const row = await createProject(deps, { name: request.body.name, actor: request.actor })
      return reply.code(201).send(projectView(row, 0))
    },
  )

  app.get(
    '/management/v1/projects/:project_id',
    {
      config: forOperators('viewer'),
      schema: {
        tags,
        operationId: 'project.show',
        summary: 'Read a project and its use of the token limit',
        params: Params,
        response: { 200: Project },
      },
    },
    async (request) => shown(await requireProject(deps.db, request.params.project_id)),
  )

  app.patch(
    '/management/v1/projects/:project_id',
    {
      config: forOperators('admin'),
      schema: {
        tags,
        operationId: 'project.update',
        summary: 'Rename a project',
        params: Params,
        body: strict({ name: NameField }),
        response: { 200: Project },
      },
    },
    async (request) => {
      const { name } = request.body
      return shown(await renameProject(deps, { id: request.params.project_id, name, actor: request.actor }))
    },
  )

  app.delete(
    '/management/v1/projects/:project_id',
    {
      config: forOperators('admin'),
      schema: {
        tags,
        operationId: 'project.delete',
        summary: 'Delete a project with its keys and tokens',
        description:
          'The body must repeat the name of the project. Keys and tokens stop working immediately; rows are removed later.',
        params: Params,
        body: strict({ name: NameField }),
        response: { 204: Nothing },
      },
    },
    async (request, reply) => {
      await deleteProject(deps, {
        id: request.params.project_id,
        name: request.body.name,
        actor: request.actor,
      })
      return reply.code(204).send(null)
    },
  )
}
