import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/index.ts'
import { type KeyUse, MAX_RECENT_ADDRESSES, saveKeyUse } from '../api-keys/index.ts'
import type { CachedKey } from './cached-key.ts'

/** Precise enough for people. Every update of a key touches four indexes. */
const PRECISION_MS = 60_000

/**
 * Records when and from where keys were last used, to the minute: collected in memory and written in batches, outside of
 * requests.
 */
export class LastUsedTracker {
  readonly #clock: Clock
  /** Addresses of this minute, by key; those of the previous secret apart. */
  #recorded = new Map<string, Set<string | null>>()
  #recordedSince = 0
  #unwritten: KeyUse[] = []

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Called by every request. */
  record({ row }: CachedKey, address: string | null, withOldSecret = false): void {
    const use = withOldSecret ? `old secret ${address}` : address
    const recorded = this.#recorded.get(row.id)
    if (recorded?.has(use)) return
    // Rare, and an operator must learn of it, so the limit does not apply.
    if (recorded && recorded.size >= MAX_RECENT_ADDRESSES && !withOldSecret) return
    if (recorded) recorded.add(use)
    else this.#recorded.set(row.id, new Set([use]))
    const { project_id: projectId, id } = row
    this.#unwritten.push({ projectId, id, at: this.#clock.now(), address, withOldSecret })
  }

  async flush(db: Database): Promise<void> {
    const now = this.#clock.now()
    if (Math.abs(now - this.#recordedSince) >= PRECISION_MS) {
      this.#recordedSince = now
      this.#recorded = new Map()
    }
    const uses = this.#unwritten.splice(0)
    if (uses.length === 0) return
    try {
      const locked = new Set(await db.transaction((tx) => saveKeyUse(tx, uses)))
      this.#unwritten.push(...uses.filter(({ id }) => locked.has(id)))
    } catch (error) {
      // Uses that cannot be written now are recorded again by the next request.
      for (const { id } of uses) this.#recorded.delete(id)
      throw error
    }
  }
}
