import { Problem } from '../../contract/problem.ts'
import type { Database, Transaction } from '../../platform/database/index.ts'
import type { Actor } from '../../platform/http/index.ts'
import type { RandomBytes } from '../../platform/secrets.ts'
import { recordChange } from '../audit/index.ts'
import { updateProjectRow } from './project.store.ts'
import { projectFacts } from './project.ts'
import { requireLockedProject } from './require-project.ts'

interface Deps {
  readonly db: Database
  readonly random: RandomBytes
  /** Marks the contents of the project as deleted in the same transaction, so that every process stops using them. */
  readonly markContents: (tx: Transaction, projectId: string) => Promise<void>
  /** Called after the commit and before the response. */
  readonly onDelete: (projectId: string) => void
}

/** Deletes a project if the request repeats its name, to prevent mistakes. The janitor removes its rows later. */
export async function deleteProject(
  deps: Deps,
  { id, name, actor }: { id: string; name: string; actor: Actor },
): Promise<void> {
  await deps.db.transaction(async (tx) => {
    const project = await requireLockedProject(tx, id)
    if (project.name !== name)
      throw new Problem('invalid_payload', {
        message: "name does not match the project's name.",
        details: `To delete the project, send {"name": …} with its exact name. Nothing was deleted.`,
        resource: { type: 'project', id },
      })
    await deps.markContents(tx, id)
    await updateProjectRow(tx, id, { deleted_at: await tx.now() })
    const subject = { type: 'project', id }
    await recordChange(deps, tx, {
      actor,
      action: 'project.deleted',
      projectId: id,
      subject,
      before: projectFacts(project),
      after: null,
    })
  })
  deps.onDelete(id)
}
