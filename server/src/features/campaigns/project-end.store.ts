import type { Transaction } from '../../platform/database/index.ts'

type Tables = Record<'campaigns' | 'vouchers' | 'point_entries', { project_id: string }>

/** Deletes all campaigns, vouchers and point entries of a deleted project. */
export async function deleteCampaignsOfProject(tx: Transaction, projectId: string): Promise<void> {
  for (const table of ['point_entries', 'vouchers', 'campaigns'] as const)
    await tx.write<Tables>().deleteFrom(table).where('project_id', '=', projectId).execute()
}
