import { Type } from 'typebox'
import type { Database } from '../../platform/database/index.ts'
import {
  type App,
  IdParam,
  metadataField,
  Nothing,
  NullableInteger,
  NullableText,
  namedList,
  namedListOf,
  PageQuery,
  pageOf,
  shownAs,
  sourceIdField,
  textField,
} from '../../platform/http/index.ts'
import type { RandomBytes } from '../../platform/secrets.ts'
import { listProductRows } from './product.store.ts'
import { productView } from './product.ts'
import { changeProduct, deleteProduct, requireProduct, saveProduct } from './save-product.ts'

interface Deps {
  readonly db: Database
  readonly random: RandomBytes
}

const Product = Type.Object({
  id: Type.String(),
  source_id: NullableText,
  name: NullableText,
  price: NullableInteger,
  metadata: Type.Any(),
  created_at: Type.String(),
  updated_at: NullableText,
  object: Type.Literal('product'),
})

const Body = Type.Object({
  source_id: sourceIdField,
  name: textField(200),
  price: Type.Optional(
    Type.Unsafe<number | null>({
      type: ['integer', 'null'],
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'In the smallest unit of the currency.',
    }),
  ),
  metadata: metadataField,
})
const Params = Type.Object({ productId: IdParam })

export function productRoutes(app: App, deps: Deps): void {
  const config = { access: 'scope' } as const
  const tags = ['products']
  const response = { 200: shownAs(Product) }

  app.post(
    '/v1/products',
    {
      config,
      schema: {
        tags,
        operationId: 'product.create',
        summary: 'Create a product, or update the one with this source_id',
        body: Body,
        response,
      },
    },
    async ({ projectId, body: fields }) =>
      productView(await deps.db.transaction((tx) => saveProduct(deps, tx, { projectId, fields }))),
  )

  app.get(
    '/v1/products',
    {
      config,
      schema: {
        tags,
        operationId: 'product.list',
        summary: 'List products, newest first',
        querystring: Type.Object(PageQuery),
        response: { 200: namedListOf('products', Product) },
      },
    },
    async ({ projectId, query }) => {
      const page = pageOf(query)
      return namedList('products', await listProductRows(deps.db, projectId, page), {
        page,
        item: productView,
      })
    },
  )

  app.get(
    '/v1/products/:productId',
    {
      config,
      schema: {
        tags,
        operationId: 'product.show',
        summary: 'Read a product, by id or source_id',
        params: Params,
        response,
      },
    },
    async ({ projectId, params }) =>
      productView(await requireProduct(deps.db, { projectId, id: params.productId })),
  )

  app.put(
    '/v1/products/:productId',
    {
      config,
      schema: {
        tags,
        operationId: 'product.update',
        summary: 'Change a product',
        params: Params,
        body: Body,
        response,
      },
    },
    async ({ projectId, params: { productId: id }, body }) =>
      productView(await deps.db.transaction((tx) => changeProduct(tx, { projectId, id }, body))),
  )

  app.delete(
    '/v1/products/:productId',
    {
      config,
      schema: {
        tags,
        operationId: 'product.delete',
        summary: 'Delete a product that no reward uses',
        params: Params,
        response: { 204: Nothing },
      },
    },
    async ({ projectId, params: { productId: id } }, reply) => {
      await deps.db.transaction((tx) => deleteProduct(tx, { projectId, id }))
      return reply.code(204).send(null)
    },
  )
}
