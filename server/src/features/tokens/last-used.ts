import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/index.ts'
import { saveKeyUse } from '../api-keys/index.ts'
import type { CachedKey } from './cached-key.ts'

/** Precise enough for people. Every update of a key touches four indexes. */
const PRECISION_MS = 60_000

/** Records to the minute when keys were last used: collects in memory and writes in batches, outside of requests. */
export class LastUsedTracker {
  readonly #clock: Clock
  #recorded = new Set<string>()
  #recordedSince = 0
  #unwritten: { projectId: string; id: string; at: number }[] = []

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Called by every request. */
  record({ row }: CachedKey): void {
    if (this.#recorded.has(row.id)) return
    this.#recorded.add(row.id)
    this.#unwritten.push({ projectId: row.project_id, id: row.id, at: this.#clock.now() })
  }

  async flush(db: Database): Promise<void> {
    const now = this.#clock.now()
    if (Math.abs(now - this.#recordedSince) >= PRECISION_MS) {
      this.#recordedSince = now
      this.#recorded = new Set()
    }
    const uses = this.#unwritten.splice(0)
    if (uses.length === 0) return
    // Uses that cannot be written now are recorded again by the next request.
    let unwritten = uses.map(({ id }) => id)
    try {
      unwritten = await db.transaction((tx) => saveKeyUse(tx, uses))
    } finally {
      for (const id of unwritten) this.#recorded.delete(id)
    }
  }
}
