import type { Kysely } from 'kysely'
import {
  compiledQuery,
  countUpTo,
  cursorPageOf,
  type Reader,
  type Transaction,
} from '../../platform/database/index.ts'
import type { Page, Rows } from '../../platform/http/index.ts'

export type EntryType = 'POINTS_ADDITION' | 'POINTS_REMOVAL' | 'POINTS_REDEMPTION'

/** A change of a card's points. Entries are never updated or deleted. */
export interface PointEntryRow {
  project_id: string
  id: string
  voucher_id: string
  /** Counts from 1 on each card. */
  number: number
  campaign_id: string
  type: EntryType
  /** Signed change of the balance. */
  points: number
  /** All points ever added, and the balance, both after this entry. */
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

/** The entries of several cards together, newest first, by cursor. */
export function listEntriesOfCards(
  reader: Reader,
  { projectId, cardIds }: { projectId: string; cardIds: readonly string[] },
  page: Page,
): Promise<Rows<PointEntryRow>> {
  if (cardIds.length === 0) return Promise.resolve({ rows: [], total: 0 })
  const query = reader
    .read<PointEntryTables>()
    .selectFrom('point_entries')
    .where('project_id', '=', projectId)
    .where('voucher_id', 'in', cardIds)
  return cursorPageOf(reader, query, page)
}
