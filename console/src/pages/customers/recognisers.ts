import type { Recogniser, SearchContext } from '../../search/recogniser.ts'
import { findCustomers } from './find-customers.ts'

async function find(text: string, { projectId, signal }: SearchContext) {
  if (projectId === undefined) return []
  const found = await findCustomers({ projectId, text, signal })
  return found.map(({ id, name, email, source_id }) => ({
    title: name ?? email ?? source_id ?? id,
    detail: `Customer ${id}`,
    link: { to: '/projects/$projectId/customers/$customerId', params: { projectId, customerId: id } },
  }))
}

export const RECOGNISERS: readonly Recogniser[] = [
  { finds: 'customer', pattern: /^cust_\w+$/, find },
  { finds: 'email', pattern: /^[^\s@]+@[^\s@]+$/, find },
  // Any word without the prefix of another id may be the code of a card.
  {
    finds: 'card code',
    pattern: /^(?!(v-|jt\w_|key_|proj_|op_|ev\w*_|whs?_|distr_|cust_))[\w#-]{3,}$/i,
    find,
  },
]
