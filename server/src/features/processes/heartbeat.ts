import type { Clock } from '../../platform/clock.ts'
import { type Database, StoreNotWritable, type Transaction } from '../../platform/database/index.ts'
import { type EventLoopDelay, watchEventLoopDelay } from '../../platform/event-loop-delay.ts'
import { deleteProcess, deleteProcessesBefore, saveProcess } from './process.store.ts'
import { type CacheFigures, MAY_ANSWER_FOR_MS, type ProcessIdentity, type ProcessRow } from './process.ts'

export const HEARTBEAT_EVERY_MS = 2_000
const LEAVE_WITHIN_MS = 1_000
const MAX_FIRST_BEATS = 5
const FIRST_BEAT_PAUSE_MS = 200

const NO_CACHE: CacheFigures = {
  key_state_version: null,
  key_state_age_ms: null,
  cached_tokens: null,
  cache_hits: null,
  cache_misses: null,
}

interface Deps {
  readonly db: Database
  readonly clock: Clock
  readonly identity: ProcessIdentity
  /** Left out by workers, which answer no requests. */
  readonly cacheFigures?: () => CacheFigures
}

/** Keeps the row of this process in `processes`: one small transaction, outside of requests. */
export class Heartbeat {
  readonly #deps: Deps
  readonly #delay: EventLoopDelay
  readonly #startedMonotonic: number
  #startedAt: number | undefined
  /** The key-state version that the last successful heartbeat reported. */
  reportedVersion: number | null = null

  constructor(deps: Deps) {
    this.#deps = deps
    this.#delay = watchEventLoopDelay()
    this.#startedMonotonic = deps.clock.monotonic()
  }

  readonly beat = async (): Promise<void> => {
    const row = await this.#deps.db.transaction(async (tx) => {
      const seen = this.#rowAt(await tx.now())
      await saveProcess(tx, seen)
      return seen
    })
    this.reportedVersion = row.key_state_version
  }

  /**
   * Writes the first heartbeat, before the process answers requests: others wait for every process that is listed. A
   * store that accepts no writes accepts no changes of keys either, so nobody waits then.
   */
  async announce(): Promise<void> {
    for (let attempt = 1; ; attempt++)
      try {
        return await this.beat()
      } catch (error) {
        if (error instanceof StoreNotWritable) return
        if (attempt === MAX_FIRST_BEATS) throw error
        await this.#deps.clock.sleep(FIRST_BEAT_PAUSE_MS)
      }
  }

  /** Removes the row, so that nobody waits for a process that has stopped. A store that does not answer is not waited for. */
  async leave(): Promise<void> {
    const { db, clock, identity } = this.#deps
    this.#delay.stop()
    const over = new AbortController()
    const removed = db.transaction((tx) => deleteProcess(tx, identity.id)).catch(() => undefined)
    await Promise.race([removed, clock.sleep(LEAVE_WITHIN_MS, over.signal)])
    over.abort()
  }

  #rowAt(now: number): ProcessRow {
    const { clock, identity, cacheFigures } = this.#deps
    this.#startedAt ??= Math.floor(now - (clock.monotonic() - this.#startedMonotonic))
    return {
      ...identity,
      ...(cacheFigures?.() ?? NO_CACHE),
      started_at: this.#startedAt,
      seen_at: now,
      event_loop_delay_p99_us: this.#delay.p99Us(),
      rss_bytes: process.memoryUsage.rss(),
    }
  }
}

/** Removes the rows of processes that ended without removing their own. */
export const removeOldProcesses = (tx: Transaction, now: number): Promise<void> =>
  deleteProcessesBefore(tx, now - 2 * MAY_ANSWER_FOR_MS)
