import { useApi } from '../api/query.ts'

const MAX = 100

/** Webhooks and distributions of the project together. */
export function useDestinations(projectId: string, pollMs?: number) {
  const parameters = { path: { project_id: projectId }, query: { limit: MAX } }
  const options = pollMs === undefined ? {} : { pollMs }
  const webhooks = useApi('/projects/{project_id}/webhooks', parameters, options)
  const distributions = useApi('/projects/{project_id}/distributions', parameters, options)
  const isLoaded = webhooks.data !== undefined && distributions.data !== undefined
  return {
    error: webhooks.error ?? distributions.error,
    data: isLoaded ? [...webhooks.data.data, ...distributions.data.data] : undefined,
    refetch: () => Promise.all([webhooks.refetch(), distributions.refetch()]),
  }
}

export type Destination = NonNullable<ReturnType<typeof useDestinations>['data']>[number]
