import { api, read } from '../../api/client.ts'
import type { Recogniser } from '../../search/recogniser.ts'

export const RECOGNISERS: readonly Recogniser[] = [
  {
    finds: 'event',
    pattern: /^ev\w*_\w+$/,
    async find(eventId, { projectId, signal }) {
      if (projectId === undefined) return []
      const path = { project_id: projectId, event_id: eventId }
      const event = await read(
        api.GET('/projects/{project_id}/events/{event_id}', { params: { path }, signal }),
      )
      const link = { to: '/projects/$projectId/events/$eventId', params: { projectId, eventId } }
      return [{ title: event.type, detail: `Event ${eventId}`, link }]
    },
  },
]
