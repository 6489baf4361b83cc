import { LRUCache } from 'lru-cache'

/** So many at once: whoever tries something out finds each of their requests on record. */
export const ALIKE_AT_ONCE = 100
/** Then one at a time: in a day not as many as a project keeps, so that a flood of one kind leaves the others there. */
const ONE_EVERY_MS = 10_000
/** Bounds the memory: kinds that did not occur lately start from the beginning. */
const MAX_KINDS = 10_000

interface Kind {
  left: number
  /** When it last got one back. */
  at: number
}

/** Whether one more refusal is worth a place on record, beside those alike. */
export class Alike {
  readonly #kinds = new LRUCache<string, Kind>({ max: MAX_KINDS })

  isWorthAPlace(name: string, now: number): boolean {
    const kind = this.#kindOf(name, now)
    const earned = Math.floor((now - kind.at) / ONE_EVERY_MS)
    kind.left = Math.min(ALIKE_AT_ONCE, kind.left + earned)
    kind.at += earned * ONE_EVERY_MS
    if (kind.left === 0) return false
    kind.left--
    return true
  }

  #kindOf(name: string, now: number): Kind {
    const known = this.#kinds.get(name)
    if (known) return known
    const fresh = { left: ALIKE_AT_ONCE, at: now }
    this.#kinds.set(name, fresh)
    return fresh
  }
}
