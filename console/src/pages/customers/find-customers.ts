import { api, read } from '../../api/client.ts'
import type { EntryOf } from '../../api/query.ts'

export type Customer = EntryOf<'/projects/{project_id}/customers'>

/** Fields of the API that a text may mean, in the order in which they are asked. */
export function fieldsFor(text: string): readonly ('id' | 'source_id' | 'email' | 'name' | 'card')[] {
  if (/^cust_\w+$/.test(text)) return ['id', 'source_id']
  if (text.includes('@')) return ['email', 'source_id', 'card']
  return /\s/.test(text) ? ['name', 'source_id'] : ['card', 'source_id', 'name']
}

interface Search {
  readonly projectId: string
  readonly text: string
  readonly signal?: AbortSignal
}

/** Customers with this id, source id, email, name or card. */
export async function findCustomers({ projectId, text, signal }: Search): Promise<readonly Customer[]> {
  const lists = await Promise.all(
    fieldsFor(text).map((name) =>
      read(
        api.GET('/projects/{project_id}/customers', {
          params: { path: { project_id: projectId }, query: { [name]: text, limit: 100 } },
          ...(signal && { signal }),
        }),
      ),
    ),
  )
  const found = lists.flatMap(({ data }) => data)
  return [...new Map(found.map((customer) => [customer.id, customer])).values()]
}
