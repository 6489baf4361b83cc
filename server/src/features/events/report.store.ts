import type { Reader, Transaction } from '../../platform/database/index.ts'

/** A redemption that was completed elsewhere and reported to Jeton. */
export interface ReportRow {
  project_id: string
  /** The client's own id of the redemption. */
  source_id: string
  body_digest: string
  event_id: string
  created_at: number
}

interface ReportTables {
  reported_redemptions: ReportRow
}

/** Returns false if the `source_id` exists. Waits for a concurrent transaction that inserts the same one. */
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

/** Deletes up to `limit` reports of a deleted project, and returns how many. */
export async function deleteSomeReports(tx: Transaction, projectId: string, limit: number): Promise<number> {
  const some = tx
    .read<ReportTables>()
    .selectFrom('reported_redemptions')
    .select('source_id')
    .where('project_id', '=', projectId)
    .limit(limit)
  const { numDeletedRows } = await tx
    .write<ReportTables>()
    .deleteFrom('reported_redemptions')
    .where('project_id', '=', projectId)
    .where('source_id', 'in', some)
    .executeTakeFirst()
  return Number(numDeletedRows)
}
