import { isoTime } from '../../platform/http/index.ts'
import type { ProjectRow } from './project.store.ts'

export const projectView = (row: ProjectRow, activeTokens: number) => ({
  id: row.id,
  object: 'project' as const,
  name: row.name,
  token_limit: row.token_limit,
  active_tokens: activeTokens,
  created_at: isoTime(row.created_at),
  updated_at: isoTime(row.updated_at),
})

/** Fields for the audit log, without the current number of tokens. */
export function projectFacts(row: ProjectRow) {
  const { active_tokens: _, ...facts } = projectView(row, 0)
  return facts
}
