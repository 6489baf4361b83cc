import { isoTime, isoTimeOrNull } from '../../platform/http/index.ts'
import type { OperatorRow } from './operator.store.ts'

/** Ids of the projects that an operator may see and change; null for all. */
export const projectsOf = ({ projects }: Pick<OperatorRow, 'projects'>): string[] | null =>
  projects === null ? null : JSON.parse(projects)

export const projectsText = (projects: readonly string[] | null): string | null =>
  projects && JSON.stringify(projects)

/** Public view of an operator, without the token and its digest. */
export const operatorView = (row: OperatorRow) => ({
  id: row.id,
  object: 'operator' as const,
  name: row.name,
  role: row.role,
  projects: projectsOf(row),
  token_last4: row.token_last4,
  created_at: isoTime(row.created_at),
  last_used_at: isoTimeOrNull(row.last_used_at),
})

export type OperatorView = ReturnType<typeof operatorView>
