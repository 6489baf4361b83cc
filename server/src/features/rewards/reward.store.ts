import { sql } from 'kysely'
import { countUpTo, type Reader, type Transaction } from '../../platform/database/index.ts'
import type { Page, Rows } from '../../platform/http/index.ts'

export const REWARD_TYPES = ['MATERIAL', 'COIN', 'CAMPAIGN'] as const
export type RewardType = (typeof REWARD_TYPES)[number]

export interface RewardRow {
  project_id: string
  id: string
  name: string
  type: RewardType
  /** As JSON: see `RewardParameters`. */
  parameters: string
  /** The product or campaign that it is made of, which therefore cannot be deleted. */
  target_id: string | null
  /** What is left; null is without end. */
  stock: number | null
  redeemed: number
  attributes: string | null
  metadata: string
  created_at: number
  updated_at: number | null
}

interface RewardTables {
  rewards: RewardRow
}

export const findReward = (reader: Reader, projectId: string, id: string): Promise<RewardRow | undefined> =>
  reader
    .read<RewardTables>()
    .selectFrom('rewards')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .executeTakeFirst()

export const lockReward = (tx: Transaction, projectId: string, id: string): Promise<RewardRow | undefined> =>
  tx
    .lock(
      tx
        .write<RewardTables>()
        .selectFrom('rewards')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('id', '=', id),
    )
    .executeTakeFirst()

export async function listRewardRows(
  reader: Reader,
  projectId: string,
  page: Page,
): Promise<Rows<RewardRow>> {
  const query = reader.read<RewardTables>().selectFrom('rewards').where('project_id', '=', projectId)
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

/** How many rewards are made of a product or campaign. */
export async function countRewardsFor(reader: Reader, projectId: string, targetId: string): Promise<number> {
  const { total } = await reader
    .read<RewardTables>()
    .selectFrom('rewards')
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .where('project_id', '=', projectId)
    .where('target_id', '=', targetId)
    .executeTakeFirstOrThrow()
  return total
}

export async function insertReward(tx: Transaction, row: RewardRow): Promise<void> {
  await tx.write<RewardTables>().insertInto('rewards').values(row).execute()
}

export async function updateRewardRow(
  tx: Transaction,
  row: RewardRow,
  change: Partial<RewardRow>,
): Promise<void> {
  await tx
    .write<RewardTables>()
    .updateTable('rewards')
    .set(change)
    .where('project_id', '=', row.project_id)
    .where('id', '=', row.id)
    .execute()
}

/**
 * Takes one from the stock. Everyone who redeems this reward waits here for the row, so it is the last lock of a redemption.
 * An empty stock throws NotNullViolation: a statement that fails also fails the commit behind it, so that the commit need
 * not wait for the answer while others wait for the row.
 */
export async function takeOne(tx: Transaction, { project_id, id }: RewardRow): Promise<void> {
  await tx
    .write<RewardTables>()
    .updateTable('rewards')
    .set({
      stock: sql<number | null>`stock - 1`,
      redeemed: sql<number>`case when stock <= 0 then null else redeemed + 1 end`,
    })
    .where('project_id', '=', project_id)
    .where('id', '=', id)
    .execute()
}

export async function deleteRewardRow(tx: Transaction, row: RewardRow): Promise<void> {
  await tx
    .write<RewardTables>()
    .deleteFrom('rewards')
    .where('project_id', '=', row.project_id)
    .where('id', '=', row.id)
    .execute()
}
