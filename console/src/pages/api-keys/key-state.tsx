import { StateBadge } from '../../components/state-badge.tsx'

const TONES = { active: 'ok', blocked: 'bad', deleted: 'neutral' } as const

export const KeyState = ({ state }: { state: keyof typeof TONES }) => (
  <StateBadge tone={TONES[state]}>{state}</StateBadge>
)
