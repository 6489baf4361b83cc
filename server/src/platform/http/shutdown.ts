import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../clock.ts'
import type { App } from './app.ts'
import type { PlainConnections } from './plain-connections.ts'

/** For the request that is on its way, on a connection that was idle when we began to stop. */
const STOP_GRACE_MS = 300

/**
 * A client that never finishes its request, or never begins one, holds a socket and not the service. Less than the 10 s
 * after which common supervisors kill.
 */
const STOP_WITHIN_MS = 8_000
const LOOK_FOR_IDLE_EVERY_MS = 100

/** Where new ones come without end, somebody is turned away in any case. */
const TURNS_MOST = 50

/**
 * Takes in what has arrived already: connections that wait to be accepted, of which Node takes one a turn, and requests
 * on connections that only pass for idle because nobody has read them yet. Closing these would cut a request off that a
 * proxy may not repeat. It returns right after a look that found nothing.
 */
async function takeIn({ server }: App, connections: PlainConnections): Promise<void> {
  let [seen, arrived] = [-1, 0]
  const note = () => {
    arrived++
  }
  server.on('connection', note).on('request', note)
  for (let turns = 0; seen !== arrived + connections.seen && turns < TURNS_MOST; turns++) {
    seen = arrived + connections.seen
    await nextTurn()
  }
  server.off('connection', note).off('request', note)
}

/**
 * No accepted request is dropped: for a moment everything is still served, with `Connection: close`; then the listener
 * and idle connections close, and what is in flight finishes.
 */
export async function stopGracefully(app: App, connections: PlainConnections, clock: Clock): Promise<void> {
  if (app.server.listening) {
    await clock.sleep(STOP_GRACE_MS)
    await takeIn(app, connections)
  }
  let open = true
  const closed = app.close().finally(() => (open = false))
  for (let waited = 0; open && waited < STOP_WITHIN_MS; waited += LOOK_FOR_IDLE_EVERY_MS) {
    app.server.closeIdleConnections()
    connections.closeIdle()
    await Promise.race([closed, clock.sleep(LOOK_FOR_IDLE_EVERY_MS)])
  }
  app.server.closeAllConnections()
  connections.closeAll()
  await closed
}
