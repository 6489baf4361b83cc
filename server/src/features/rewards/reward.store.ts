import { type Kysely, sql } from 'kysely'
import { compiledQuery, projectTable, type Reader, type Transaction } from '../../platform/database/index.ts'
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
  /** Id of its product or campaign, which therefore cannot be deleted. */
  target_id: string | null
  /** Remaining quantity; null means unlimited. */
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

const rewards = projectTable<RewardRow>('rewards')

export const findReward = rewards.find

export const lockReward = rewards.lock

export const listRewardRows = (reader: Reader, projectId: string, page: Page): Promise<Rows<RewardRow>> =>
  rewards.list(reader, projectId, page)

/** Counts the rewards that use a product or campaign. */
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

export const updateRewardRow = rewards.update

/**
 * Takes one from the stock. All redemptions of the reward wait for this row, so it is the last lock of a redemption.
 * An empty stock throws NotNullViolation. A failed statement also fails the commit that was sent behind it, so the commit
 * need not wait for this result while others wait for the row.
 */
export async function takeOne(tx: Transaction, { project_id, id }: RewardRow): Promise<void> {
  await decrementStock(tx, { project_id, id })
}

const decrementStock = compiledQuery(
  (db: Kysely<RewardTables>, { project_id, id }: Pick<RewardRow, 'project_id' | 'id'>) =>
    db
      .updateTable('rewards')
      .set({
        stock: sql<number | null>`stock - 1`,
        redeemed: sql<number>`case when stock <= 0 then null else redeemed + 1 end`,
      })
      .where('project_id', '=', project_id)
      .where('id', '=', id),
)

export const deleteRewardRow = rewards.delete
