import { api, read } from '../../api/client.ts'
import type { Hit, Recogniser } from '../../search/recogniser.ts'

const TO = '/projects/$projectId/access'

/** Ids of requests. Keys, tokens and addresses are found by the pages of keys and tokens. */
export const RECOGNISERS: readonly Recogniser[] = [
  {
    finds: 'request id',
    pattern: /^v-[0-9a-f]{4,64}$/,
    async find(request, { projectId, signal }): Promise<readonly Hit[]> {
      const params = { path: { request_id: request } }
      const refusal = await read(api.GET('/refusals/{request_id}', { params, signal })).catch(() => undefined)
      const project = refusal?.project_id ?? projectId
      if (!project) return []
      const link = { to: TO, params: { projectId: project }, search: { request } }
      // The page says why a request may not be recorded.
      if (!refusal) return [{ title: 'No refusal is recorded for this request', detail: request, link }]
      const { steps, step, method, path, original_path, status, key } = refusal
      const reason = steps.find(({ passed }) => !passed)?.says ?? step
      return [
        { title: `Refused: ${reason}`, detail: `${method} ${original_path ?? path}, ${status} ${key}`, link },
      ]
    },
  },
]
