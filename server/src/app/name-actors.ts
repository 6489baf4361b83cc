import { namesOfKeys } from '../features/api-keys/index.ts'
import { namesOfOperators } from '../features/operators/index.ts'
import type { Database } from '../platform/database/index.ts'

interface Actor {
  readonly type: string
  readonly id: string
  readonly projectId: string | null
}

/** Names of operators and API keys by id, for the audit log. The id of an operator may look like that of a key. */
export async function nameActors(db: Database, actors: readonly Actor[]): Promise<Map<string, string>> {
  const idsOf = (type: string) => [...new Set(actors.filter((one) => one.type === type).map(({ id }) => id))]
  const operators = idsOf('operator')
  const keys = actors.flatMap(({ type, id, projectId }) =>
    type === 'api_key' && projectId !== null ? [{ project_id: projectId, id }] : [],
  )
  const found = await Promise.all([
    operators.length > 0 ? namesOfOperators(db, operators) : [],
    keys.length > 0 ? namesOfKeys(db, keys) : [],
  ])
  return new Map(found.flat().map(({ id, name }) => [id, name]))
}
