import type { Clock } from '../../platform/clock.ts'
import type { Reader } from '../../platform/database/index.ts'
import { countAttempts } from './delivery-record.store.ts'

const FIRST_POLL_MS = 20
const POLL_INTERVAL_MS = 250

interface Wait {
  readonly projectId: string
  readonly deliveryId: string
  readonly waitMs: number
  /** Ends the wait early, if the client disconnects or the process shuts down. */
  readonly signal: AbortSignal
}

/**
 * Waits until the delivery has been attempted or the time is over. It polls one row by its key, because the worker may be
 * another process on another machine.
 */
export async function waitForAttempt(
  { db, clock }: { readonly db: Reader; readonly clock: Clock },
  { projectId, deliveryId, waitMs, signal }: Wait,
): Promise<void> {
  const until = clock.monotonic() + waitMs
  let pauseMs = FIRST_POLL_MS
  for (let left = waitMs; left > 0 && !signal.aborted; left = until - clock.monotonic()) {
    await clock.sleep(Math.min(pauseMs, left), signal)
    if (signal.aborted || (await countAttempts(db, projectId, deliveryId)) !== 0) return
    pauseMs = Math.min(2 * pauseMs, POLL_INTERVAL_MS)
  }
}
