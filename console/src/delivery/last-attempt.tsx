import { StateBadge } from '../components/state-badge.tsx'
import type { Delivery } from './delivery-state.tsx'

/** The answer of the receiver, or why there was none. Long texts end with an ellipsis; the whole text is on hover. */
export function LastAttempt({ attempt }: { attempt: Delivery['last_attempt'] }) {
  if (!attempt) return <span className="dim">not tried yet</span>
  const { status, error } = attempt
  return (
    <span className="answer">
      {status !== null && <StateBadge tone={error === null ? 'ok' : 'bad'}>{status}</StateBadge>}
      {error !== null && error !== `answered ${status}` && (
        <bdi className="one-line" title={error}>
          {error}
        </bdi>
      )}
    </span>
  )
}
