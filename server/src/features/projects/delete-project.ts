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
  /** Marks what the project holds as deleted, in the same transaction, so that every process learns of it. */
  readonly markContents: (tx: Transaction, projectId: string) => Promise<void>
  /** Told after the commit and before the answer. */
  readonly onDelete: (projectId: string) => void
}

/** The name in the body guards against a slip. What the project held is removed later, by the janitor. */
export async function deleteProject(
  deps: Deps,
  { id, name, actor }: { id: string; name: string; actor: Actor },
): Promise<void> {
  await deps.db.transaction(async (tx) => {
    const project = await requireLockedProject(tx, id)
    if (project.name !== name)
      throw new Problem('invalid_payload', {
        message: "name does not repeat the project's name.",
        details: `To delete it, send {"name": …} with exactly the name that GET shows. Nothing was deleted.`,
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
