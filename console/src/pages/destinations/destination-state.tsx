import { plural } from '../../components/number-text.ts'
import { StateBadge, type Tone } from '../../components/state-badge.tsx'
import type { Destination } from '../../delivery/use-destinations.ts'

const TONES: Readonly<Record<string, Tone>> = {
  healthy: 'ok',
  failing: 'bad',
  disabled: 'warn',
  idle: 'neutral',
}

export const DestinationState = ({ destination: { health } }: { destination: Destination }) => (
  <StateBadge tone={TONES[health.state] ?? 'neutral'}>{health.state}</StateBadge>
)

/** Deliveries that wait, are held or used up their retries, in words. */
export function backlogText({ health: { pending, held, exhausted } }: Destination): string {
  const parts = [
    pending > 0 && `${plural(pending, 'delivery waits', 'deliveries wait')}`,
    held > 0 && `${held} held`,
    exhausted > 0 && `${exhausted} exhausted`,
  ]
  return parts.filter(Boolean).join(', ')
}
