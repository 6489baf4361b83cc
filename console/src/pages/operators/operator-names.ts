import { useApi } from '../../api/query.ts'

const MAX_NAMES = 100

/** Names of operators by id. Only admins may read them. */
export function useOperatorNames(enabled: boolean): ReadonlyMap<string, string> {
  const operators = useApi('/operators', { query: { limit: MAX_NAMES } }, { enabled })
  return new Map(operators.data?.data.map(({ id, name }) => [id, name]))
}
