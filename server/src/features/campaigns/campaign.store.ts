import { countUpTo, type Reader, type Transaction } from '../../platform/database/index.ts'
import type { Page, Rows } from '../../platform/http/index.ts'

export const CAMPAIGN_TYPES = ['LOYALTY_PROGRAM', 'DISCOUNT_COUPONS', 'GIFT_VOUCHERS'] as const
export type CampaignType = (typeof CAMPAIGN_TYPES)[number]

export interface CampaignRow {
  project_id: string
  id: string
  /** Unique in the project. */
  name: string
  campaign_type: CampaignType
  type: 'AUTO_UPDATE' | 'STATIC'
  /** What its vouchers are like, as JSON: see `VoucherPlan`. */
  voucher: string
  auto_join: number
  join_once: number
  active: number
  description: string | null
  metadata: string
  starts_at: number | null
  expires_at: number | null
  created_at: number
  updated_at: number | null
}

export interface CampaignTables {
  campaigns: CampaignRow
}

/** By id, else by name. */
export async function findCampaign(
  reader: Reader,
  projectId: string,
  idOrName: string,
): Promise<CampaignRow | undefined> {
  const rows = await reader
    .read<CampaignTables>()
    .selectFrom('campaigns')
    .selectAll()
    .where('project_id', '=', projectId)
    .where((eb) => eb.or([eb('id', '=', idOrName), eb('name', '=', idOrName)]))
    .execute()
  return rows.find((row) => row.id === idOrName) ?? rows[0]
}

export const lockCampaign = (
  tx: Transaction,
  projectId: string,
  id: string,
): Promise<CampaignRow | undefined> =>
  tx
    .lock(
      tx
        .write<CampaignTables>()
        .selectFrom('campaigns')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('id', '=', id),
    )
    .executeTakeFirst()

export async function listCampaignRows(
  reader: Reader,
  projectId: string,
  { page, type }: { page: Page; type?: CampaignType | undefined },
): Promise<Rows<CampaignRow>> {
  let query = reader.read<CampaignTables>().selectFrom('campaigns').where('project_id', '=', projectId)
  if (type !== undefined) query = query.where('campaign_type', '=', type)
  const total = await countUpTo(reader, query)
  const rows = await query
    .selectAll()
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit + 1)
    .offset(page.offset)
    .execute()
  return { rows, total }
}

/** False where the name is taken. */
export async function insertCampaign(tx: Transaction, row: CampaignRow): Promise<boolean> {
  const inserted = await tx
    .write<CampaignTables>()
    .insertInto('campaigns')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return inserted.numInsertedOrUpdatedRows === 1n
}

export async function updateCampaignRow(
  tx: Transaction,
  row: CampaignRow,
  change: Partial<CampaignRow>,
): Promise<void> {
  await tx
    .write<CampaignTables>()
    .updateTable('campaigns')
    .set(change)
    .where('project_id', '=', row.project_id)
    .where('id', '=', row.id)
    .execute()
}

export async function deleteCampaignRow(tx: Transaction, row: CampaignRow): Promise<void> {
  await tx
    .write<CampaignTables>()
    .deleteFrom('campaigns')
    .where('project_id', '=', row.project_id)
    .where('id', '=', row.id)
    .execute()
}
