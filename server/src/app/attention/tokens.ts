import { findApiKey } from '../../features/api-keys/index.ts'
import { listProjectsNearLimit } from '../../features/projects/index.ts'
import { countActiveTokens } from '../../features/tokens/index.ts'
import { type Attention, MAX_PER_RULE, type Scope } from './attention.ts'

const NEAR_LIMIT = 0.8

/** Projects that are close to their limit of active tokens, with the key that holds most of them. */
export async function tokenRules({ db, projectId, now }: Scope): Promise<Attention[]> {
  // Credits are never more than what is left, so that no other project can be close to its limit.
  const candidates = await listProjectsNearLimit(db, NEAR_LIMIT, projectId)
  if (candidates.length === 0) return []
  const counts = await countActiveTokens(db, now, projectId === undefined ? undefined : [projectId])
  const byProject = Map.groupBy(counts, ({ project_id }) => project_id)
  const found: Attention[] = []
  for (const project of candidates) {
    const { id } = project
    const keys = byProject.get(id) ?? []
    const active = keys.reduce((sum, { count }) => sum + count, 0)
    if (active === 0 || active < NEAR_LIMIT * project.token_limit) continue
    const largest = keys.reduce((a, b) => (b.count > a.count ? b : a))
    const key = await findApiKey(db, id, largest.key_id)
    const isFull = active >= project.token_limit
    found.push({
      kind: isFull ? 'tokens.limit_reached' : 'tokens.near_limit',
      severity: isFull ? 'error' : 'warning',
      since: null,
      subject: { type: 'project', id, name: project.name, project_id: id },
      message: `Project "${project.name}" has ${active} of ${project.token_limit} active tokens; ${largest.count} belong to key "${key?.name ?? largest.key_id}".`,
      fix: {
        command: `jeton key revoke-tokens ${largest.key_id} --project ${id}`,
        call: `POST /management/v1/projects/${id}/api-keys/${largest.key_id}/revoke-tokens`,
      },
    })
    if (found.length === MAX_PER_RULE) return found
  }
  return found
}
