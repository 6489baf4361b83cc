import { RECOGNISERS as ACCESS } from '../pages/access/recognisers.ts'
import { RECOGNISERS as API_KEYS } from '../pages/api-keys/recognisers.ts'
import { RECOGNISERS as AUDIT_LOG } from '../pages/audit-log/recognisers.ts'
import { RECOGNISERS as CUSTOMERS } from '../pages/customers/recognisers.ts'
import { RECOGNISERS as DELIVERIES } from '../pages/deliveries/recognisers.ts'
import { RECOGNISERS as DESTINATIONS } from '../pages/destinations/recognisers.ts'
import { RECOGNISERS as EVENTS } from '../pages/events/recognisers.ts'
import { RECOGNISERS as OPERATORS } from '../pages/operators/recognisers.ts'
import { RECOGNISERS as TOKENS } from '../pages/tokens/recognisers.ts'
import type { Hit, Recogniser, SearchContext } from './recogniser.ts'

/** All that match are asked; their hits appear in this order. */
const RECOGNISERS: readonly Recogniser[] = [
  ...ACCESS,
  ...API_KEYS,
  ...TOKENS,
  ...EVENTS,
  ...DELIVERIES,
  ...DESTINATIONS,
  ...CUSTOMERS,
  ...AUDIT_LOG,
  ...OPERATORS,
]

export const FINDS: readonly string[] = [...new Set(RECOGNISERS.map(({ finds }) => finds))]

/** A recogniser that fails finds nothing: the others may still find it. */
export async function findAnything(text: string, context: SearchContext): Promise<readonly Hit[]> {
  const matching = RECOGNISERS.filter(({ pattern }) => pattern.test(text))
  const found = await Promise.all(
    matching.map(async ({ find }) => {
      try {
        return await find(text, context)
      } catch {
        return []
      }
    }),
  )
  return found.flat()
}
