import { countText } from './number-text.ts'
import { StateBadge } from './state-badge.tsx'

/** Tokens of a key. At its own limit, the key gets no new ones. */
export const ActiveTokens = ({ active, limit }: { active: number; limit: number | null }) => (
  <span className="nowrap">
    {limit !== null && active >= limit && <StateBadge tone="warn">full</StateBadge>} {countText(active)}
  </span>
)
