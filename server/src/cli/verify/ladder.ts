/** Why a signature does not fit. */
export type Reason =
  | 'missing_header'
  | 'malformed_header'
  | 'malformed_secret'
  | 'wrong_secret'
  | 'body_changed'
  | 'header_changed'
  | 'timestamp'

export interface Step {
  readonly passed: boolean
  readonly says: string
}

export interface Judgement {
  readonly fits: boolean
  /** Null where it fits. */
  readonly reason: Reason | null
  readonly steps: readonly Step[]
  readonly remedy: string | null
}

/** The steps so far, and the end of the ladder that they lead to. */
export class Ladder {
  readonly #steps: Step[] = []

  passed(says: string): void {
    this.#steps.push({ passed: true, says })
  }

  failed(reason: Reason, says: string, remedy: string): Judgement {
    return { fits: false, reason, steps: [...this.#steps, { passed: false, says }], remedy }
  }

  fits(): Judgement {
    return { fits: true, reason: null, steps: this.#steps, remedy: null }
  }
}
