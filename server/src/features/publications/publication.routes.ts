import { Type } from 'typebox'
import { notFound } from '../../contract/problem.ts'
import type { Database } from '../../platform/database/index.ts'
import {
  type App,
  filterField,
  IdParam,
  NullableText,
  namedList,
  namedListOf,
  PageQuery,
  pageOf,
  shownAs,
} from '../../platform/http/index.ts'
import { findPublication, listPublicationRows } from './publication.store.ts'
import type { PublicationRow } from './publication.ts'

const Publication = Type.Object({
  id: Type.String(),
  object: Type.Literal('publication'),
  created_at: Type.String(),
  customer_id: Type.String(),
  tracking_id: NullableText,
  metadata: Type.Any({ description: 'Source of the publication, with the distribution that sent it.' }),
  channel: Type.String(),
  source_id: NullableText,
  result: Type.String(),
  customer: Type.Any(),
  voucher: Type.Any({
    description: 'Voucher of the reward, or the loyalty card if the reward has none.',
  }),
  vouchers_id: Type.Array(Type.String()),
})

/** The publication as it was sent. */
const publicationView = (row: PublicationRow): object => JSON.parse(row.data)

/** Notifications that distributions sent to customers. */
export function publicationRoutes(app: App, { db }: { db: Database }): void {
  const config = { access: 'scope' } as const
  const tags = ['publications']

  app.get(
    '/v1/publications',
    {
      config,
      schema: {
        tags,
        operationId: 'publication.list',
        summary: 'List publications, newest first',
        querystring: Type.Object({ ...PageQuery, customer: filterField('Id of the customer.') }),
        response: { 200: namedListOf('publications', Publication) },
      },
    },
    async ({ projectId, query }) => {
      const page = pageOf(query)
      const rows = await listPublicationRows(db, projectId, { page, customer: query.customer })
      return namedList('publications', rows, { page, item: publicationView })
    },
  )

  app.get(
    '/v1/publications/:publicationId',
    {
      config,
      schema: {
        tags,
        operationId: 'publication.show',
        summary: 'Read a publication',
        params: Type.Object({ publicationId: IdParam }),
        response: { 200: shownAs(Publication) },
      },
    },
    async ({ projectId, params }) => {
      const row = await findPublication(db, projectId, params.publicationId)
      if (!row) throw notFound('publication', params.publicationId)
      return publicationView(row)
    },
  )
}
