import type { Kysely } from 'kysely'
import { compiledQuery, type Transaction } from '../../platform/database/index.ts'

/** A completed redemption. There are no others: one that fails leaves nothing behind. */
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
  /** What a CAMPAIGN reward issued, or added to. */
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

export async function deleteRedemptionsOfProject(tx: Transaction, projectId: string): Promise<void> {
  await tx.write<RedemptionTables>().deleteFrom('redemptions').where('project_id', '=', projectId).execute()
}
