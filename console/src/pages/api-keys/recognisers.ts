import { api, read, type Schemas } from '../../api/client.ts'
import type { Hit, Recogniser, SearchContext } from '../../search/recogniser.ts'

const hitOf = ({ id, name, project_id, state }: Schemas['ApiKey']): Hit => ({
  title: name,
  detail: `API key, ${state}, ${id}`,
  link: { to: '/projects/$projectId/api-keys/$keyId', params: { projectId: project_id, keyId: id } },
})

const findBy =
  (field: 'name' | 'app_id') =>
  async (text: string, { projectId, signal }: SearchContext) => {
    if (!projectId) return []
    const params = { path: { project_id: projectId }, query: { [field]: text } }
    return (await read(api.GET('/projects/{project_id}/api-keys', { params, signal }))).data.map(hitOf)
  }

export const RECOGNISERS: readonly Recogniser[] = [
  {
    finds: 'key',
    pattern: /^key_\w+$/,
    async find(text, { projectId, signal }) {
      if (!projectId) return []
      const params = { path: { project_id: projectId, key_id: text } }
      return [hitOf(await read(api.GET('/projects/{project_id}/api-keys/{key_id}', { params, signal })))]
    },
  },
  { finds: 'app id', pattern: /^[0-9a-f]{8}-[0-9a-f-]{27}$/i, find: findBy('app_id') },
  // Secrets have prefixes, and must not become part of a URL. Anything else may be a name.
  { finds: 'name of a key', pattern: /^(?!jt[a-z]_|whsec_).{1,100}$/, find: findBy('name') },
  {
    finds: 'address',
    pattern: /^(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]*:[0-9a-f:.]+)$/i,
    find: (address, { projectId }) =>
      projectId
        ? [
            {
              title: `Keys that may be used from ${address}`,
              link: { to: '/projects/$projectId/api-keys', params: { projectId }, search: { address } },
            },
          ]
        : [],
  },
]
