import { api, read } from '../../api/client.ts'
import type { Recogniser } from '../../search/recogniser.ts'

export const RECOGNISERS: readonly Recogniser[] = [
  {
    finds: 'destination',
    pattern: /^(wh|distr)_\w+$/,
    async find(destinationId, { projectId, signal }) {
      if (projectId === undefined) return []
      const { target_url } = await (destinationId.startsWith('wh_')
        ? read(
            api.GET('/projects/{project_id}/webhooks/{webhook_id}', {
              params: { path: { project_id: projectId, webhook_id: destinationId } },
              signal,
            }),
          )
        : read(
            api.GET('/projects/{project_id}/distributions/{distribution_id}', {
              params: { path: { project_id: projectId, distribution_id: destinationId } },
              signal,
            }),
          ))
      const link = {
        to: '/projects/$projectId/destinations/$destinationId',
        params: { projectId, destinationId },
      }
      return [{ title: target_url, detail: `Destination ${destinationId}`, link }]
    },
  },
]
