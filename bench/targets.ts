import type { Row } from './compare.ts'
import type { Engine } from './stores.ts'

export interface Target {
  readonly sign: '≥' | '≤' | '<'
  /** A ratio to the baseline, or MB. */
  readonly value: number
}

const least = (sqlite: number, postgres = sqlite) => ({
  sqlite: { sign: '≥', value: sqlite },
  postgres: { sign: '≥', value: postgres },
})
const most = (sign: '≤' | '<', value: number) => ({ sqlite: { sign, value }, postgres: { sign, value } })

const TARGETS = {
  issue: least(0.5, 0.45),
  introspect: least(0.8),
  gateway: least(0.8),
  'issue, no fast path': least(0.4, 0.33),
  'introspect, no fast path': least(0.6),
  'gateway, no fast path': least(0.6),
  redeem: least(0.025, 0.02),
  deliver: least(0.33, 0.22),
  growth: least(0.85),
  mixed: most('≤', 2),
  'memory, idle': most('<', 180),
  'memory, 100,000 tokens': most('<', 300),
} as const

export type TargetName = keyof typeof TARGETS

export const targetOf = (name: TargetName, engine: Engine): Target => TARGETS[name][engine] as Target

/** Undefined if the row has no target. A row without a result misses its target. */
export function meetsTarget({ target, ratio, memoryMb }: Row): boolean | undefined {
  if (!target) return undefined
  const value = memoryMb ?? ratio?.median
  if (value === undefined) return false
  if (target.sign === '≥') return value >= target.value
  return target.sign === '≤' ? value <= target.value : value < target.value
}
