import { LRUCache } from 'lru-cache'

/** Recorded at once: people who try something find each of their requests. */
export const BURST = 100
/** Then one at a time: fewer a day than a project keeps, so that a flood of one kind does not push out the others. */
const ONE_EVERY_MS = 10_000
/** Bounds the memory: kinds that did not occur lately begin with a full burst again. */
const MAX_KINDS = 10_000

interface Budget {
  left: number
  /** When it was last refilled. */
  at: number
}

/** Samples repeated refusals with a token bucket per kind. */
export class RefusalSampler {
  readonly #budgets = new LRUCache<string, Budget>({ max: MAX_KINDS })

  shouldRecord(kind: string, now: number): boolean {
    const budget = this.#budgetOf(kind, now)
    const earned = Math.floor((now - budget.at) / ONE_EVERY_MS)
    budget.left = Math.min(BURST, budget.left + earned)
    budget.at += earned * ONE_EVERY_MS
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
