import type { Stage } from './stage.ts'

/** What a step has seen, in words that fit on a line. */
export interface Seen {
  readonly result: string
  /** What shows it: a time, a code, what an answer said. */
  readonly proof: string
  /** Whole sentences that need a line of their own. */
  readonly more?: readonly string[]
}

export interface Step {
  readonly name: string
  /** The promise, as a sentence. */
  readonly proves: string
  /** How to see the same without the tour. */
  readonly byHand: string
  run(stage: Stage): Promise<Seen>
}

/** What happened is not what is promised. */
export class NotAsPromised extends Error {
  override readonly name = 'NotAsPromised'
}

export function promised(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new NotAsPromised(otherwise)
}

/** Of a step before; without it this one cannot be tried. */
export function needed<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new NotAsPromised(`not tried, for want of ${what}`)
  return value
}

/** `1.9 ms`, `41 ms`. */
export const shownMs = (ms: number): string => `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`
