import type { Recogniser, SearchContext } from '../../search/recogniser.ts'
import { findCustomers } from './find-customers.ts'

async function find(text: string, { projectId, signal }: SearchContext) {
  if (projectId === undefined) return []
  const found = await findCustomers({ projectId, text, signal })
  return found.map(({ id, name, email, source_id }) => ({
    title: name ?? email ?? source_id ?? id,
    detail: ['Customer', name && email, id].filter(Boolean).join(', '),
    link: { to: '/projects/$projectId/customers/$customerId', params: { projectId, customerId: id } },
  }))
}

export const RECOGNISERS: readonly Recogniser[] = [
  { finds: 'customer', pattern: /^cust_\w+$/, find },
  { finds: 'email', pattern: /^[^\s@]+@[^\s@]+$/, find },
  // Any text without the prefix of another id or of a secret may be the code of a card, a name or a source id.
  {
    finds: 'card code, name or source id of a customer',
    pattern: /^(?!(v-|jt\w_|whsec_|key_|proj_|op_|ev\w*_|whs?_|distr_|cust_))[^@]{3,100}$/i,
    find,
  },
]
