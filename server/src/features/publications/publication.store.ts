import { countUpTo, type Reader, unindexed } from '../../platform/database/index.ts'
import type { Page, Rows } from '../../platform/http/index.ts'
import type { PublicationRow, PublicationTables } from './publication.ts'

export const findPublication = (
  reader: Reader,
  projectId: string,
  id: string,
): Promise<PublicationRow | undefined> =>
  reader
    .read<PublicationTables>()
    .selectFrom('publications')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .executeTakeFirst()

/** The ids of a page come from an index alone: what lies before a page is passed without reading it. */
export async function listPublicationRows(
  reader: Reader,
  projectId: string,
  { page, customer }: { page: Page; customer?: string | undefined },
): Promise<Rows<PublicationRow>> {
  let query = reader.read<PublicationTables>().selectFrom('publications').where('project_id', '=', projectId)
  if (customer !== undefined) query = query.where('customer_id', '=', customer)
  const shown = query
    .select('id')
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit + 1)
    .offset(page.offset)
  const rows = await reader
    .read<PublicationTables>()
    .selectFrom('publications')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('id', 'in', shown)
    .orderBy(unindexed('created_at'), 'desc')
    .orderBy('id', 'desc')
    .execute()
  return { rows, total: await countUpTo(reader, query) }
}
