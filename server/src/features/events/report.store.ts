import type { Reader, Transaction } from '../../platform/database/index.ts'

/** A redemption that was completed elsewhere and reported to us. */
export interface ReportRow {
  project_id: string
  /** The caller's own id of it. */
  source_id: string
  body_digest: string
  event_id: string
  created_at: number
}

interface ReportTables {
  reported_redemptions: ReportRow
}

/** False where there is one under this `source_id`; then another's transaction that writes it has ended before we go on. */
export async function insertReport(tx: Transaction, row: ReportRow): Promise<boolean> {
  const inserted = await tx
    .write<ReportTables>()
    .insertInto('reported_redemptions')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return inserted.numInsertedOrUpdatedRows === 1n
}

export const findReport = (
  reader: Reader,
  projectId: string,
  sourceId: string,
): Promise<ReportRow | undefined> =>
  reader
    .read<ReportTables>()
    .selectFrom('reported_redemptions')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('source_id', '=', sourceId)
    .executeTakeFirst()

/** At most `most` of a project that is gone; how many there were. */
export async function deleteSomeReports(tx: Transaction, projectId: string, most: number): Promise<number> {
  const some = tx
    .read<ReportTables>()
    .selectFrom('reported_redemptions')
    .select('source_id')
    .where('project_id', '=', projectId)
    .limit(most)
  const { numDeletedRows } = await tx
    .write<ReportTables>()
    .deleteFrom('reported_redemptions')
    .where('project_id', '=', projectId)
    .where('source_id', 'in', some)
    .executeTakeFirst()
  return Number(numDeletedRows)
}
