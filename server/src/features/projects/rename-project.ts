import type { Database } from '../../platform/database/index.ts'
import { UniqueConflict } from '../../platform/database/index.ts'
import type { Actor } from '../../platform/http/index.ts'
import type { RandomBytes } from '../../platform/secrets.ts'
import { recordChange } from '../audit/index.ts'
import { nameTaken } from './create-project.ts'
import { type ProjectRow, updateProjectRow } from './project.store.ts'
import { projectFacts } from './project.ts'
import { requireLockedProject } from './require-project.ts'

export async function renameProject(
  deps: { db: Database; random: RandomBytes },
  { id, name, actor }: { id: string; name: string; actor: Actor },
): Promise<ProjectRow> {
  try {
    return await deps.db.transaction(async (tx) => {
      const before = await requireLockedProject(tx, id)
      if (before.name === name) return before
      const after = { ...before, name, updated_at: await tx.now() }
      await updateProjectRow(tx, id, { name, updated_at: after.updated_at })
      await recordChange(deps, tx, {
        actor,
        action: 'project.updated',
        projectId: id,
        subject: { type: 'project', id },
        before: projectFacts(before),
        after: projectFacts(after),
      })
      return after
    })
  } catch (error) {
    throw error instanceof UniqueConflict ? nameTaken(name) : error
  }
}
