import { api, read } from '../../api/client.ts'
import type { Hit, Recogniser } from '../../search/recogniser.ts'

const MAX_READ = 100

/** Operators by a part of their name or by id, for admins. */
export const RECOGNISERS: readonly Recogniser[] = [
  {
    finds: 'operator',
    pattern: /^(?!jt[a-z]_|whsec_).{2,100}$/,
    async find(text, { isAdmin, signal }): Promise<readonly Hit[]> {
      if (!isAdmin) return []
      const { data } = await read(api.GET('/operators', { params: { query: { limit: MAX_READ } }, signal }))
      const asked = text.toLowerCase()
      return data
        .filter(({ id, name }) => id === text || name.toLowerCase().includes(asked))
        .map(({ id, name, role }) => ({
          title: name,
          detail: `Operator, ${role}: its sessions`,
          link: { to: '/sessions', search: { operator: id } },
        }))
    },
  },
]
