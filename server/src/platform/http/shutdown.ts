import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../clock.ts'
import type { App } from './app.ts'

/** For requests that are in transit on connections which were idle when the shutdown started. */
const GRACE_MS = 300
/** For clients that never finish their request. Less than the 10 s after which process supervisors usually kill. */
const SHUTDOWN_TIMEOUT_MS = 8_000
const CLOSE_IDLE_EVERY_MS = 100
/** If new requests arrive without end, some client is refused in any case. */
const MAX_TURNS = 50

/** Connections that Node does not handle: those of the fast path. */
export interface OtherConnections {
  readonly requestCount: number
  closeIdle(): void
  closeAll(): void
}

/**
 * Accepts the waiting connections (Node accepts one per turn of the event loop) and reads the requests that have already
 * arrived on connections that seem idle. Closing these would lose a request that a proxy may not retry. Returns after a
 * turn without a new request.
 */
async function drainBacklog({ server }: App, others?: OtherConnections): Promise<void> {
  let [count, before] = [0, -1]
  const increment = () => void count++
  const total = () => count + (others?.requestCount ?? 0)
  server.on('connection', increment).on('request', increment)
  for (let turns = 0; before !== total() && turns < MAX_TURNS; turns++) {
    before = total()
    await nextTurn()
  }
  server.off('connection', increment).off('request', increment)
}

/**
 * Drops no accepted request: for a moment everything is still served, with `Connection: close`. Then the listener and idle
 * connections close, and requests in flight finish.
 */
export async function stopGracefully(app: App, clock: Clock, others?: OtherConnections): Promise<void> {
  if (app.server.listening) {
    await clock.sleep(GRACE_MS)
    await drainBacklog(app, others)
  }
  let isOpen = true
  const closed = app.close().finally(() => (isOpen = false))
  for (let waitedMs = 0; isOpen && waitedMs < SHUTDOWN_TIMEOUT_MS; waitedMs += CLOSE_IDLE_EVERY_MS) {
    app.server.closeIdleConnections()
    others?.closeIdle()
    await Promise.race([closed, clock.sleep(CLOSE_IDLE_EVERY_MS)])
  }
  app.server.closeAllConnections()
  others?.closeAll()
  await closed
}
