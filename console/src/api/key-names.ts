import { useApi } from './query.ts'

const MAX_KEYS = 100

/** The newest API keys of a project. */
export const useKeys = (projectId: string) =>
  useApi('/projects/{project_id}/api-keys', { path: { project_id: projectId }, query: { limit: MAX_KEYS } })

/** Names of the API keys of a project by their id; the id itself for a key that is deleted. */
export function useKeyNames(projectId: string): (keyId: string) => string {
  const names = new Map(useKeys(projectId).data?.data.map(({ id, name }) => [id, name]))
  return (keyId) => names.get(keyId) ?? keyId
}
