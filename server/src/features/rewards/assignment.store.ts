import type { Kysely } from 'kysely'
import { compiledQuery, countUpTo, type Reader, type Transaction } from '../../platform/database/index.ts'
import type { Page, Rows } from '../../platform/http/index.ts'
import type { RewardRow } from './reward.store.ts'

/** A reward in a campaign, with its price there. */
export interface AssignmentRow {
  project_id: string
  id: string
  reward_id: string
  campaign_id: string
  /** Null for COIN, where the customer chooses how many points to spend. */
  points: number | null
  created_at: number
  updated_at: number | null
}

interface AssignmentTables {
  reward_assignments: AssignmentRow
  rewards: RewardRow
}

/** Selects the assignments of a reward, or those in a campaign. */
export type Owner = { readonly rewardId: string } | { readonly campaignId: string }

const columnOf = (owner: Owner) =>
  'rewardId' in owner
    ? (['reward_id', owner.rewardId] as const)
    : (['campaign_id', owner.campaignId] as const)

export function findAssignment(
  reader: Reader,
  projectId: string,
  { owner, id }: { owner: Owner; id: string },
): Promise<AssignmentRow | undefined> {
  const [column, value] = columnOf(owner)
  return reader
    .read<AssignmentTables>()
    .selectFrom('reward_assignments')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .where(column, '=', value)
    .executeTakeFirst()
}

type AssignmentKey = Pick<AssignmentRow, 'project_id' | 'reward_id' | 'campaign_id'>

const lockByKey = compiledQuery((db: Kysely<AssignmentTables>, key: AssignmentKey, tx: Transaction) =>
  tx.lockShared(
    db
      .selectFrom('reward_assignments')
      .selectAll()
      .where('project_id', '=', key.project_id)
      .where('reward_id', '=', key.reward_id)
      .where('campaign_id', '=', key.campaign_id),
  ),
)

/** Until the end of the transaction the assignment stays, and so does its reward, which cannot be deleted before it. */
export const lockAssignment = async (
  tx: Transaction,
  key: AssignmentKey,
): Promise<AssignmentRow | undefined> => (await lockByKey(tx, key)).rows[0]

export async function countAssignmentsOf(reader: Reader, projectId: string, owner: Owner): Promise<number> {
  const [column, value] = columnOf(owner)
  const { total } = await reader
    .read<AssignmentTables>()
    .selectFrom('reward_assignments')
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .where('project_id', '=', projectId)
    .where(column, '=', value)
    .executeTakeFirstOrThrow()
  return total
}

export async function listAssignmentRows(
  reader: Reader,
  projectId: string,
  { owner, page }: { owner: Owner; page: Page },
): Promise<Rows<AssignmentRow>> {
  const [column, value] = columnOf(owner)
  const rows = await reader
    .read<AssignmentTables>()
    .selectFrom('reward_assignments')
    .selectAll()
    .where('project_id', '=', projectId)
    .where(column, '=', value)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit + 1)
    .offset(page.offset)
    .execute()
  return { rows, total: await countAssignmentsOf(reader, projectId, owner) }
}

export interface Offer {
  readonly assignment: AssignmentRow
  readonly reward: RewardRow
}

/** Lists rewards of a campaign with their price; with `balance` only those in stock that this many points can buy. */
export async function listOffers(
  reader: Reader,
  { projectId, campaignId, balance }: { projectId: string; campaignId: string; balance?: number | undefined },
  page: Page,
): Promise<Rows<Offer>> {
  let query = reader
    .read<AssignmentTables>()
    .selectFrom('reward_assignments as a')
    .innerJoin('rewards as r', (join) =>
      join.onRef('r.project_id', '=', 'a.project_id').onRef('r.id', '=', 'a.reward_id'),
    )
    .where('a.project_id', '=', projectId)
    .where('a.campaign_id', '=', campaignId)
  if (balance !== undefined)
    query = query
      .where((eb) => eb(eb.fn.coalesce('a.points', eb.val(1)), '<=', balance))
      .where((eb) => eb.or([eb('r.stock', 'is', null), eb('r.stock', '>', 0)]))
  const total = await countUpTo(reader, query)
  const ids = await query
    .select(['a.id as assignment_id', 'r.id as reward_id'])
    .orderBy('a.created_at', 'desc')
    .orderBy('a.id', 'desc')
    .limit(page.limit + 1)
    .offset(page.offset)
    .execute()
  return { rows: await wholeOffers(reader, projectId, ids), total }
}

/** Fetches the rows of both tables separately, because they share column names. */
async function wholeOffers(
  reader: Reader,
  projectId: string,
  ids: readonly { assignment_id: string; reward_id: string }[],
): Promise<Offer[]> {
  if (ids.length === 0) return []
  const tables = reader.read<AssignmentTables>()
  const assignments = await tables
    .selectFrom('reward_assignments')
    .selectAll()
    .where('project_id', '=', projectId)
    .where(
      'id',
      'in',
      ids.map((one) => one.assignment_id),
    )
    .execute()
  const rewards = await tables
    .selectFrom('rewards')
    .selectAll()
    .where('project_id', '=', projectId)
    .where(
      'id',
      'in',
      ids.map((one) => one.reward_id),
    )
    .execute()
  return ids.flatMap(({ assignment_id, reward_id }) => {
    const assignment = assignments.find((row) => row.id === assignment_id)
    const reward = rewards.find((row) => row.id === reward_id)
    return assignment && reward ? [{ assignment, reward }] : []
  })
}

/** Returns false if the reward is already assigned to the campaign. */
export async function insertAssignment(tx: Transaction, row: AssignmentRow): Promise<boolean> {
  const inserted = await tx
    .write<AssignmentTables>()
    .insertInto('reward_assignments')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return inserted.numInsertedOrUpdatedRows === 1n
}

export async function updateAssignmentRow(
  tx: Transaction,
  row: AssignmentRow,
  change: Partial<AssignmentRow>,
): Promise<void> {
  await tx
    .write<AssignmentTables>()
    .updateTable('reward_assignments')
    .set(change)
    .where('project_id', '=', row.project_id)
    .where('id', '=', row.id)
    .execute()
}

export async function deleteAssignmentRow(tx: Transaction, row: AssignmentRow): Promise<void> {
  await tx
    .write<AssignmentTables>()
    .deleteFrom('reward_assignments')
    .where('project_id', '=', row.project_id)
    .where('id', '=', row.id)
    .execute()
}
