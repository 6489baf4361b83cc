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

/** Finds the ids of a page with an index-only scan, so that skipped rows are not read. */
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
