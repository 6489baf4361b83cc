import { startPeriodic } from '../../platform/worker/index.ts'
import { EVENTS_WRITTEN } from '../events/index.ts'
import { DESTINATIONS_CHANGED } from '../webhooks/index.ts'
import { type Backlog, DELIVERIES_DUE, readBacklog, releaseHeld } from './delivery.store.ts'
import { type DeliveryDeps, Dispatcher } from './dispatcher.ts'
import { fanOut } from './fan-out.ts'

/** What guarantees that nothing is forgotten, where a wake-up is not heard; an idle round costs two reads. */
const POLL_EVERY_MS = 500
const BACKLOG_EVERY_MS = 15_000

/** Fans out what has happened and sends what is due, until it is stopped. Any number of processes share a store. */
export function startDelivery(deps: DeliveryDeps): { stop(): Promise<void> } {
  const { db, clock, log } = deps
  const dispatcher = new Dispatcher(deps)
  const sending = startPeriodic(
    { clock, log },
    { name: 'delivery', everyMs: POLL_EVERY_MS, run: () => dispatcher.run() },
  )
  const fanning = startPeriodic(
    { clock, log },
    { name: 'fan-out', everyMs: POLL_EVERY_MS, run: () => spread(deps, sending.soon) },
  )
  const watching = watchBacklog(deps)
  dispatcher.onEnded = sending.soon
  const stopWakes = [
    db.onWake(EVENTS_WRITTEN, fanning.soon),
    db.onWake(DESTINATIONS_CHANGED, fanning.soon),
    db.onWake(DELIVERIES_DUE, sending.soon),
  ]
  return {
    async stop() {
      for (const stopWake of stopWakes) stopWake()
      await Promise.all([watching.stop(), fanning.stop(), sending.stop()])
      await dispatcher.finish()
    },
  }
}

/** Sending begins with the first batch, not after the last. */
async function spread(deps: DeliveryDeps, due: () => void): Promise<void> {
  if (await releaseHeld(deps.db)) due()
  while ((await fanOut(deps)) > 0) due()
}

function watchBacklog({ db, clock, log, metrics }: DeliveryDeps) {
  let seen: (Backlog & { readonly at: number }) | undefined
  metrics.gauge(
    'jeton_deliveries_due',
    'Deliveries that should have gone out by now, in the whole store; up to 1,000 of each destination are counted.',
    () => seen?.due,
    'max',
  )
  metrics.gauge(
    'jeton_deliveries_oldest_due_seconds',
    'How long the oldest of them has been due.',
    () => (seen === undefined ? undefined : Math.max(0, seen.at - (seen.oldestDueAt ?? seen.at)) / 1000),
    'max',
  )
  const run = async () => {
    const at = await db.now()
    seen = { ...(await readBacklog(db, at)), at }
  }
  return startPeriodic({ clock, log }, { name: 'backlog', everyMs: BACKLOG_EVERY_MS, run })
}
