import { ID_PREFIX } from '../../contract/ids.ts'
import { PROJECT_TOKEN_LIMIT } from '../../contract/limits.ts'
import { Problem } from '../../contract/problem.ts'
import type { Database, Transaction } from '../../platform/database/index.ts'
import type { Actor } from '../../platform/http/index.ts'
import { newId, type RandomBytes } from '../../platform/secrets.ts'
import { recordChange } from '../audit/index.ts'
import { insertProject, type ProjectRow } from './project.store.ts'
import { projectFacts } from './project.ts'

interface Deps {
  readonly db: Database
  readonly random: RandomBytes
}

export const nameTaken = (name: string): Problem =>
  new Problem('duplicate_found', {
    message: `A project named ${JSON.stringify(name)} already exists.`,
    details: 'Choose another name.',
  })

export const createProject = (deps: Deps, request: { name: string; actor: Actor }): Promise<ProjectRow> =>
  deps.db.transaction((tx) => createProjectIn(deps, tx, request))

export async function createProjectIn(
  deps: { random: RandomBytes },
  tx: Transaction,
  { name, actor }: { name: string; actor: Actor },
): Promise<ProjectRow> {
  const now = await tx.now()
  const row: ProjectRow = {
    id: newId(deps.random, ID_PREFIX.project),
    name,
    token_limit: PROJECT_TOKEN_LIMIT,
    credits: PROJECT_TOKEN_LIMIT,
    full_until: null,
    created_at: now,
    updated_at: now,
    deleted_at: null,
  }
  if (!(await insertProject(tx, row))) throw nameTaken(name)
  const subject = { type: 'project', id: row.id }
  await recordChange(deps, tx, {
    actor,
    action: 'project.created',
    projectId: row.id,
    subject,
    before: null,
    after: projectFacts(row),
  })
  return row
}
