import type { Kysely } from 'kysely'
import {
  compiledQuery,
  cursorPageOf,
  pageOf,
  type Reader,
  type Transaction,
} from '../../platform/database/index.ts'
import type { Page, Rows } from '../../platform/http/index.ts'
import type { CampaignTables } from './campaign.store.ts'
import type { VoucherType } from './campaign.ts'

export interface VoucherRow {
  project_id: string
  id: string
  /** Unique in the project, across campaigns. */
  code: string
  campaign_id: string
  type: VoucherType
  /** Null once the customer has been deleted. */
  holder_id: string | null
  /** Discount or gift, as JSON; null for loyalty cards, whose value is their balance. */
  value: string | null
  /** All points ever added. */
  points: number
  /** Always the sum of the card's entries. */
  balance: number
  /** Number of ledger entries; the next entry gets one more. */
  entries: number
  redeemed_quantity: number
  redeemed_points: number
  active: number
  metadata: string
  starts_at: number | null
  expires_at: number | null
  created_at: number
  updated_at: number | null
}

interface VoucherTables extends CampaignTables {
  vouchers: VoucherRow
}

const selectByCode = compiledQuery(
  (db: Kysely<VoucherTables>, { projectId, code }: { projectId: string; code: string }) =>
    db.selectFrom('vouchers').selectAll().where('project_id', '=', projectId).where('code', '=', code),
)

export const findVoucher = async (
  reader: Reader,
  projectId: string,
  code: string,
): Promise<VoucherRow | undefined> => (await selectByCode(reader, { projectId, code })).rows[0]

const lockById = compiledQuery(
  (db: Kysely<VoucherTables>, { projectId, id }: { projectId: string; id: string }, tx: Transaction) =>
    tx.lock(db.selectFrom('vouchers').selectAll().where('project_id', '=', projectId).where('id', '=', id)),
)

/** Finds the card of a customer in a campaign, the oldest if there are several. */
export const findCardOf = (
  reader: Reader,
  { projectId, campaignId, holderId }: { projectId: string; campaignId: string; holderId: string },
): Promise<VoucherRow | undefined> =>
  reader
    .read<VoucherTables>()
    .selectFrom('vouchers')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('holder_id', '=', holderId)
    .where('campaign_id', '=', campaignId)
    .orderBy('created_at')
    .orderBy('id')
    .executeTakeFirst()

/** Locks in the order of ids to avoid deadlocks. The statements are sent together. */
export async function lockVouchers(
  tx: Transaction,
  projectId: string,
  ids: readonly string[],
): Promise<Map<string, VoucherRow>> {
  const results = await Promise.all([...new Set(ids)].sort().map((id) => lockById(tx, { projectId, id })))
  return new Map(results.flatMap(({ rows }) => rows.map((row) => [row.id, row])))
}

export const listVoucherRows = (
  reader: Reader,
  { projectId, campaignId }: { projectId: string; campaignId: string },
  page: Page,
): Promise<Rows<VoucherRow>> => {
  const query = reader
    .read<VoucherTables>()
    .selectFrom('vouchers')
    .where('project_id', '=', projectId)
    .where('campaign_id', '=', campaignId)
  return pageOf(reader, query, page)
}

export async function hasVouchers(reader: Reader, projectId: string, campaignId: string): Promise<boolean> {
  const row = await reader
    .read<VoucherTables>()
    .selectFrom('vouchers')
    .select('id')
    .where('project_id', '=', projectId)
    .where('campaign_id', '=', campaignId)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Lists the loyalty cards of customers with the campaign's name. */
export const listCardsOf = (reader: Reader, projectId: string, holderIds: readonly string[]) =>
  reader
    .read<VoucherTables>()
    .selectFrom('vouchers')
    .innerJoin('campaigns', (join) =>
      join
        .onRef('campaigns.project_id', '=', 'vouchers.project_id')
        .onRef('campaigns.id', '=', 'vouchers.campaign_id'),
    )
    .select([
      'vouchers.holder_id as customerId',
      'campaigns.name as campaign',
      'vouchers.balance as balance',
      'vouchers.redeemed_points as redeemedPoints',
      'vouchers.redeemed_quantity as redeemedQuantity',
    ])
    .where('vouchers.project_id', '=', projectId)
    .where('vouchers.holder_id', 'in', holderIds)
    .where('vouchers.type', '=', 'LOYALTY_CARD')
    .orderBy('vouchers.created_at')
    .execute()

const cardsHeldBy = (reader: Reader, projectId: string, holderId: string) =>
  reader
    .read<VoucherTables>()
    .selectFrom('vouchers')
    .where('project_id', '=', projectId)
    .where('holder_id', '=', holderId)
    .where('type', '=', 'LOYALTY_CARD')

/** The loyalty cards of a customer, newest first, by cursor. */
export const listCardRowsOf = (
  reader: Reader,
  { projectId, holderId }: { projectId: string; holderId: string },
  page: Page,
): Promise<Rows<VoucherRow>> =>
  cursorPageOf(reader, cardsHeldBy(reader, projectId, holderId), page) as Promise<Rows<VoucherRow>>

/** Far more than a customer has. */
const MAX_CARDS = 1_000

/** The code of each loyalty card of a customer, by its id. */
export async function cardCodesOf(
  reader: Reader,
  projectId: string,
  holderId: string,
): Promise<Map<string, string>> {
  const rows = await cardsHeldBy(reader, projectId, holderId)
    .select(['id', 'code'])
    .limit(MAX_CARDS)
    .execute()
  return new Map(rows.map(({ id, code }) => [id, code]))
}

/** Returns those of the codes that are taken. */
export async function takenCodes(
  reader: Reader,
  projectId: string,
  codes: readonly string[],
): Promise<Set<string>> {
  const rows = await reader
    .read<VoucherTables>()
    .selectFrom('vouchers')
    .select('code')
    .where('project_id', '=', projectId)
    .where('code', 'in', codes)
    .execute()
  return new Set(rows.map((row) => row.code))
}

/** Returns false if the code is taken. */
export async function insertVoucher(tx: Transaction, row: VoucherRow): Promise<boolean> {
  const inserted = await tx
    .write<VoucherTables>()
    .insertInto('vouchers')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return inserted.numInsertedOrUpdatedRows === 1n
}

export async function updateVoucherRow(
  tx: Transaction,
  row: VoucherRow,
  change: Partial<VoucherRow>,
): Promise<void> {
  await tx
    .write<VoucherTables>()
    .updateTable('vouchers')
    .set(change)
    .where('project_id', '=', row.project_id)
    .where('id', '=', row.id)
    .execute()
}

/** The columns that a change of points changes. */
type Sums = Pick<
  VoucherRow,
  'points' | 'balance' | 'entries' | 'redeemed_points' | 'redeemed_quantity' | 'updated_at'
>

const updateSums = compiledQuery(
  (db: Kysely<VoucherTables>, { project_id, id, ...sums }: Sums & Pick<VoucherRow, 'project_id' | 'id'>) =>
    db.updateTable('vouchers').set(sums).where('project_id', '=', project_id).where('id', '=', id),
)

export async function updateVoucherSums(tx: Transaction, row: VoucherRow, sums: Sums): Promise<void> {
  await updateSums(tx, { ...sums, project_id: row.project_id, id: row.id })
}

/** Deactivates the cards of a deleted customer, because nobody may use them. The ledger stays. */
export async function releaseCards(tx: Transaction, projectId: string, customerId: string): Promise<void> {
  const held = await tx
    .read<VoucherTables>()
    .selectFrom('vouchers')
    .select('id')
    .where('project_id', '=', projectId)
    .where('holder_id', '=', customerId)
    .execute()
  await lockVouchers(
    tx,
    projectId,
    held.map((row) => row.id),
  )
  // Matches by customer, not by the ids above: a redemption may have issued another card while this waited for a lock.
  await tx
    .write<VoucherTables>()
    .updateTable('vouchers')
    .set({ holder_id: null, active: 0, updated_at: await tx.now() })
    .where('project_id', '=', projectId)
    .where('holder_id', '=', customerId)
    .execute()
}
