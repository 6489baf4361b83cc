import type { Transaction } from '../../platform/database/index.ts'

type Tables = Record<'rewards' | 'reward_assignments' | 'products', { project_id: string }>

/** Deletes all rewards, assignments and products of a deleted project. */
export async function deleteRewardsOfProject(tx: Transaction, projectId: string): Promise<void> {
  for (const table of ['reward_assignments', 'rewards', 'products'] as const)
    await tx.write<Tables>().deleteFrom(table).where('project_id', '=', projectId).execute()
}
