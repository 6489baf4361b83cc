import type { Kysely } from 'kysely'
import { compiledQuery, cursorPageOf, type Reader, type Transaction } from '../../platform/database/index.ts'
import type { Page, Rows } from '../../platform/http/index.ts'

/** A completed redemption. Failed redemptions are not stored. */
export interface RedemptionRow {
  project_id: string
  id: string
  reward_redemption_id: string
  voucher_id: string
  campaign_id: string
  customer_id: string
  reward_id: string
  reward_assignment_id: string
  points: number
  /** The order that COIN took an amount off, as JSON. */
  order: string | null
  metadata: string
  /** Voucher that a CAMPAIGN reward issued or added points to. */
  issued_voucher_id: string | null
  event_id: string
  created_at: number
}

interface RedemptionTables {
  redemptions: RedemptionRow
}

const insertRow = compiledQuery((db: Kysely<RedemptionTables>, row: RedemptionRow) =>
  db.insertInto('redemptions').values(row),
)

export async function insertRedemption(tx: Transaction, row: RedemptionRow): Promise<void> {
  await insertRow(tx, row)
}

/** The redemptions with several cards together, newest first, by cursor. */
export function listRedemptionsOfCards(
  reader: Reader,
  { projectId, cardIds }: { projectId: string; cardIds: readonly string[] },
  page: Page,
): Promise<Rows<RedemptionRow>> {
  if (cardIds.length === 0) return Promise.resolve({ rows: [], total: 0 })
  const query = reader
    .read<RedemptionTables>()
    .selectFrom('redemptions')
    .where('project_id', '=', projectId)
    .where('voucher_id', 'in', cardIds)
  return cursorPageOf(reader, query, page)
}

export async function deleteRedemptionsOfProject(tx: Transaction, projectId: string): Promise<void> {
  await tx.write<RedemptionTables>().deleteFrom('redemptions').where('project_id', '=', projectId).execute()
}
