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
