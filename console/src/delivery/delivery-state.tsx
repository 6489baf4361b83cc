import type { EntryOf } from '../api/query.ts'
import { StateBadge, type Tone } from '../components/state-badge.tsx'

export type Delivery = EntryOf<'/projects/{project_id}/deliveries'>

const TONES: Readonly<Record<string, Tone>> = {
  delivered: 'ok',
  failing: 'warn',
  held: 'warn',
  exhausted: 'bad',
}

/** A pending delivery that was tried is failing, as in the filter of the API. */
export const stateOf = ({ status, attempts_made }: Pick<Delivery, 'status' | 'attempts_made'>): string =>
  status === 'pending' && attempts_made > 0 ? 'failing' : status

/** States that can be sent again by recovering. */
export const canRecover = (delivery: Delivery): boolean =>
  ['failing', 'exhausted'].includes(stateOf(delivery))

export const DeliveryState = ({ delivery }: { delivery: Pick<Delivery, 'status' | 'attempts_made'> }) => {
  const state = stateOf(delivery)
  return <StateBadge tone={TONES[state] ?? 'neutral'}>{state}</StateBadge>
}
