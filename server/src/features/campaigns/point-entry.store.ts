import type { Kysely } from 'kysely'
import { compiledQuery, countUpTo, type Reader, type Transaction } from '../../platform/database/index.ts'
import type { Page, Rows } from '../../platform/http/index.ts'

export type EntryType = 'POINTS_ADDITION' | 'POINTS_REMOVAL' | 'POINTS_REDEMPTION'

/** One change of a card's points. Entries are only ever added. */
export interface PointEntryRow {
  project_id: string
  id: string
  voucher_id: string
  /** 1, 2, 3 … on each card. */
  number: number
  campaign_id: string
  type: EntryType
  /** Signed: what the balance changed by. */
  points: number
  /** All points ever added, and the balance, after this entry. */
  total: number
  balance: number
  source_id: string | null
  reason: string | null
  redemption_id: string | null
  reward_id: string | null
  reward_name: string | null
  request_id: string | null
  created_at: number
}

interface PointEntryTables {
  point_entries: PointEntryRow
}

const insertRow = compiledQuery((db: Kysely<PointEntryTables>, row: PointEntryRow) =>
  db.insertInto('point_entries').values(row),
)

export async function insertEntry(tx: Transaction, row: PointEntryRow): Promise<void> {
  await insertRow(tx, row)
}

/** Newest first. */
export async function listEntryRows(
  reader: Reader,
  { projectId, voucherId }: { projectId: string; voucherId: string },
  page: Page,
): Promise<Rows<PointEntryRow>> {
  const query = reader
    .read<PointEntryTables>()
    .selectFrom('point_entries')
    .where('project_id', '=', projectId)
    .where('voucher_id', '=', voucherId)
  const total = await countUpTo(reader, query)
  const rows = await query
    .selectAll()
    .orderBy('number', 'desc')
    .limit(page.limit + 1)
    .offset(page.offset)
    .execute()
  return { rows, total }
}
