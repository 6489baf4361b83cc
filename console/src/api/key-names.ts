import { useApi } from './query.ts'

const MAX_KEYS = 100

/** Names of the API keys of a project by their id; the id itself for a key that is deleted. */
export function useKeyNames(projectId: string): (keyId: string) => string {
  const keys = useApi('/projects/{project_id}/api-keys', {
    path: { project_id: projectId },
    query: { limit: MAX_KEYS },
  })
  const names = new Map(keys.data?.data.map(({ id, name }) => [id, name]))
  return (keyId) => names.get(keyId) ?? keyId
}
