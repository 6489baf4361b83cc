import { api, read } from '../../api/client.ts'
import type { Recogniser } from '../../search/recogniser.ts'

export const RECOGNISERS: readonly Recogniser[] = [
  {
    finds: 'delivery',
    pattern: /^whs_\w+$/,
    async find(deliveryId, { projectId, signal }) {
      if (projectId === undefined) return []
      const path = { project_id: projectId, delivery_id: deliveryId }
      const found = await read(
        api.GET('/projects/{project_id}/deliveries/{delivery_id}', { params: { path }, signal }),
      )
      const link = {
        to: '/projects/$projectId/events/$eventId',
        params: { projectId, eventId: found.event_id },
        search: { delivery: deliveryId },
      }
      return [
        {
          title: `Delivery to ${found.destination_url ?? 'a deleted destination'}`,
          detail: deliveryId,
          link,
        },
      ]
    },
  },
]
