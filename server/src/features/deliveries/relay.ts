import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/index.ts'
import { newId, type RandomBytes } from '../../platform/secrets.ts'
import type { Dispatcher } from './dispatcher.ts'
import { fanOut, MAX_DELIVERIES_PER_BATCH } from './fan-out.ts'
import { relayBatch } from './outbox.store.ts'

/** Maximum number of events in a batch. */
const MAX_EVENTS_PER_BATCH = 500
/** After a full batch, the relay waits until at most this many deliveries are buffered. */
const ENOUGH_BUFFERED = 256
/** Waiting never slows the relay below this rate, because other destinations may have capacity. */
const MIN_DELIVERIES_PER_MS = 4
/** A transaction may commit this much later than one with a later timestamp. The full scan finds even later ones. */
const LATE_COMMIT_MS = 1_000
const FULL_SCAN_EVERY_MS = 500

interface RelayDeps {
  readonly db: Database
  readonly clock: Clock
  readonly random: RandomBytes
  readonly dispatcher: Pick<
    Dispatcher,
    'capacities' | 'add' | 'notifyDue' | 'isStoreDown' | 'bufferedCount' | 'mayHaveDue' | 'waitUntil'
  >
}

/** Moves events from the outbox to deliveries until the outbox is empty. It waits only after a full batch. */
export class Relay {
  readonly #deps: RelayDeps
  #isStopped = false

  constructor(deps: RelayDeps) {
    this.#deps = deps
  }

  stop(): void {
    this.#isStopped = true
  }

  async run(): Promise<void> {
    const { clock, dispatcher } = this.#deps
    let [from, scannedAt, limit] = [0, clock.monotonic(), MAX_EVENTS_PER_BATCH]
    // While results cannot be settled, nothing more is sent.
    while (!this.#isStopped && !dispatcher.isStoreDown) {
      const { events, deliveries, leavesHealthyBacklog, hasMore } = await this.#relayBatch(from, limit)
      if (!hasMore) return
      const isReady = () =>
        dispatcher.bufferedCount <= ENOUGH_BUFFERED && !(leavesHealthyBacklog && dispatcher.mayHaveDue)
      await dispatcher.waitUntil(isReady, deliveries.length / MIN_DELIVERIES_PER_MS)
      // Skips the deleted rows before the last event, which PostgreSQL would scan again in every batch.
      from = (events.at(-1)?.created_at ?? 0) - LATE_COMMIT_MS
      if (clock.monotonic() - scannedAt > FULL_SCAN_EVERY_MS) [from, scannedAt] = [0, clock.monotonic()]
      const perEvent = Math.max(1, deliveries.length / Math.max(1, events.length))
      limit = Math.max(1, Math.min(MAX_EVENTS_PER_BATCH, Math.ceil(MAX_DELIVERIES_PER_BATCH / perEvent)))
    }
  }

  async #relayBatch(from: number, limit: number) {
    const { db, clock, random, dispatcher } = this.#deps
    const claimId = newId(random, '')
    const claimedAt = clock.monotonic()
    const capacities = dispatcher.capacities()
    let now = 0
    const fannedOut = await relayBatch(db, { from, limit }, (batch) => {
      now = batch.now
      return fanOut({ batch, capacities, claimId, claimedAt })
    })
    dispatcher.add(fannedOut.claimed, { storeTime: now, at: claimedAt })
    if (fannedOut.deliveries.length > fannedOut.claimed.length) dispatcher.notifyDue()
    return fannedOut
  }
}
