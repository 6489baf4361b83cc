import { Type } from 'typebox'
import { notFound } from '../../contract/problem.ts'
import { ROLES, type Role } from '../../contract/roles.ts'
import type { Database } from '../../platform/database/index.ts'
import {
  type App,
  forOperators,
  IdParam,
  listAnswer,
  listOf,
  NameField,
  Nothing,
  NullableText,
  PageQuery,
  pageOf,
  strict,
} from '../../platform/http/index.ts'
import type { RandomBytes } from '../../platform/secrets.ts'
import { deleteOperator, regenerateOperator, updateOperator } from './change-operator.ts'
import { createOperator } from './create-operator.ts'
import { findOperator, listOperatorRows } from './operator.store.ts'
import { operatorView } from './operator.ts'

const RoleField = Type.Unsafe<Role>({
  type: 'string',
  enum: ROLES,
  description:
    '`viewer` reads, `editor` also changes keys, tokens, webhooks and deliveries, `admin` does everything. Default: viewer.',
})

/** `x-noun` lets the command line take names: `--project Shop --project Club`. */
const ProjectsField = Type.Unsafe<readonly string[] | null>({
  type: ['array', 'null'],
  items: { type: 'string', minLength: 1, maxLength: 100 },
  maxItems: 100,
  uniqueItems: true,
  'x-says': 'must be null, or a list of at most 100 ids of projects, each once',
  'x-noun': 'project',
  description: 'Ids of the projects that it is limited to; null for all. Always null for an admin.',
})

const fields = {
  id: Type.String({ description: 'Send it as `X-Management-Id`.' }),
  object: Type.Literal('operator'),
  name: Type.String(),
  role: RoleField,
  projects: ProjectsField,
  token_last4: Type.String(),
  created_at: Type.String(),
  last_used_at: NullableText,
}
const Operator = Type.Object(fields)
const OperatorWithToken = Type.Object({
  ...fields,
  token: Type.String({ description: 'Shown only in this response.' }),
})
const Params = Type.Object({ operator_id: IdParam })

interface Deps {
  readonly db: Database
  readonly random: RandomBytes
  /** Throws for the first id that belongs to no project. */
  readonly requireProjects: (ids: readonly string[]) => Promise<void>
}

export function operatorRoutes(app: App, deps: Deps): void {
  const tags = ['operators']
  const columns = { 'x-columns': ['id', 'name', 'role', 'projects', 'last_used_at', 'created_at'] }

  app.get(
    '/management/v1/operators',
    {
      config: forOperators('admin'),
      schema: {
        tags,
        operationId: 'operator.list',
        summary: 'List operators',
        querystring: strict(PageQuery),
        response: { 200: listOf(Operator) },
        ...columns,
      },
    },
    async (request) => {
      const page = pageOf(request.query)
      return listAnswer(await listOperatorRows(deps.db, page), page, { item: operatorView })
    },
  )

  app.post(
    '/management/v1/operators',
    {
      config: forOperators('admin'),
      schema: {
        tags,
        operationId: 'operator.create',
        summary: 'Create an operator; its token is shown once',
        body: strict({
          name: NameField,
          role: Type.Optional(RoleField),
          projects: Type.Optional(ProjectsField),
        }),
        response: { 201: OperatorWithToken },
      },
    },
    async ({ body, actor }, reply) => {
      const { name, role = 'viewer', projects = null } = body
      await deps.requireProjects(projects ?? [])
      return reply.code(201).send(await createOperator(deps, { name, role, projects, actor }))
    },
  )

  app.get(
    '/management/v1/operators/:operator_id',
    {
      config: forOperators('admin'),
      schema: {
        tags,
        operationId: 'operator.show',
        summary: 'Read an operator',
        params: Params,
        response: { 200: Operator },
      },
    },
    async (request) => {
      const row = await findOperator(deps.db, request.params.operator_id)
      if (!row) throw notFound('operator', request.params.operator_id)
      return operatorView(row)
    },
  )

  app.patch(
    '/management/v1/operators/:operator_id',
    {
      config: forOperators('admin'),
      schema: {
        tags,
        operationId: 'operator.update',
        summary: 'Change the name, the role or the projects of an operator',
        params: Params,
        body: strict(
          {
            name: Type.Optional(NameField),
            role: Type.Optional(RoleField),
            projects: Type.Optional(ProjectsField),
          },
          { minProperties: 1 },
        ),
        response: { 200: Operator },
      },
    },
    async ({ params, body, actor }) => {
      await deps.requireProjects(body.projects ?? [])
      return updateOperator(deps, { ...body, id: params.operator_id, actor })
    },
  )

  app.post(
    '/management/v1/operators/:operator_id/regenerate',
    {
      config: forOperators('admin'),
      schema: {
        tags,
        operationId: 'operator.regenerate',
        summary: 'Replace the token; the old one stops working immediately',
        params: Params,
        response: { 200: OperatorWithToken },
      },
    },
    (request) => regenerateOperator(deps, { id: request.params.operator_id, actor: request.actor }),
  )

  app.delete(
    '/management/v1/operators/:operator_id',
    {
      config: forOperators('admin'),
      schema: {
        tags,
        operationId: 'operator.delete',
        summary: 'Delete an operator',
        params: Params,
        response: { 204: Nothing },
      },
    },
    async (request, reply) => {
      await deleteOperator(deps, { id: request.params.operator_id, actor: request.actor })
      return reply.code(204).send(null)
    },
  )
}
