import { CircleCheck, CircleDashed, CircleX, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'

export type Tone = 'ok' | 'warn' | 'bad' | 'neutral'

/** A different shape per tone, since colour alone says nothing to many people. */
const ICONS = { ok: CircleCheck, warn: TriangleAlert, bad: CircleX, neutral: CircleDashed } as const

export function StateBadge({ tone, children }: { tone: Tone; children: ReactNode }) {
  const Icon = ICONS[tone]
  return (
    <span className={`badge ${tone}`}>
      <Icon size={12} aria-hidden />
      {children}
    </span>
  )
}
