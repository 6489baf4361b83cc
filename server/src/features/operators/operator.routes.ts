import { Type } from 'typebox'
import { notFound } from '../../contract/problem.ts'
import type { Database } from '../../platform/database/index.ts'
import {
  type App,
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
import { deleteOperator, regenerateOperator } from './change-operator.ts'
import { createOperator } from './create-operator.ts'
import { findOperator, listOperatorRows } from './operator.store.ts'
import { operatorView } from './operator.ts'

const fields = {
  id: Type.String({ description: 'Send it as `X-Management-Id`.' }),
  object: Type.Literal('operator'),
  name: Type.String(),
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

export function operatorRoutes(app: App, deps: { db: Database; random: RandomBytes }): void {
  const config = { access: 'operator', management: true } as const
  const tags = ['operators']
  const columns = { 'x-columns': ['id', 'name', 'token_last4', 'last_used_at', 'created_at'] }

  app.get(
    '/management/v1/operators',
    {
      config,
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
      config,
      schema: {
        tags,
        operationId: 'operator.create',
        summary: 'Create an operator; its token is shown once',
        body: strict({ name: NameField }),
        response: { 201: OperatorWithToken },
      },
    },
    async (request, reply) => {
      const operator = await createOperator(deps, { name: request.body.name, actor: request.actor })
      return reply.code(201).send(operator)
    },
  )

  app.get(
    '/management/v1/operators/:operator_id',
    {
      config,
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

  app.post(
    '/management/v1/operators/:operator_id/regenerate',
    {
      config,
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
      config,
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
