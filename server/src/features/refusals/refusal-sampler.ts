import { LRUCache } from 'lru-cache'

/** Recorded without sampling, so that people who try something find each of their requests. */
export const BURST = 100
/** Rate after the burst. A day of it is less than a project keeps, so a flood of one kind does not push out others. */
const SAMPLE_INTERVAL_MS = 10_000
/** Limits memory. Evicted kinds start with a full burst again. */
const MAX_KINDS = 10_000

interface Budget {
  left: number
  /** Time of the last refill. */
  at: number
}

/** Samples repeated refusals with a token bucket per kind. */
export class RefusalSampler {
  readonly #budgets = new LRUCache<string, Budget>({ max: MAX_KINDS })

  shouldRecord(kind: string, now: number): boolean {
    const budget = this.#budgetOf(kind, now)
    const earned = Math.floor((now - budget.at) / SAMPLE_INTERVAL_MS)
    budget.left = Math.min(BURST, budget.left + earned)
    budget.at += earned * SAMPLE_INTERVAL_MS
    if (budget.left === 0) return false
    budget.left--
    return true
  }

  #budgetOf(kind: string, now: number): Budget {
    const known = this.#budgets.get(kind)
    if (known) return known
    const fresh = { left: BURST, at: now }
    this.#budgets.set(kind, fresh)
    return fresh
  }
}
