import { startPeriodic } from '../../platform/periodic.ts'
import { EVENTS_WRITTEN } from '../events/index.ts'
import { DESTINATIONS_CHANGED } from '../webhooks/index.ts'
import { DELIVERIES_DUE, readBacklog, resumeHeld } from './delivery.store.ts'
import { backlogMetrics } from './delivery-metrics.ts'
import { type DeliveryDeps, Dispatcher } from './dispatcher.ts'
import { Relay } from './relay.ts'

/** Polling covers lost notifications. */
const POLL_EVERY_MS = 500
const BACKLOG_EVERY_MS = 15_000

/** Relays events and sends deliveries until it is stopped. Any number of processes share a store. */
export function startDelivery(deps: DeliveryDeps): { stop(): Promise<void> } {
  const { db, clock, log } = deps
  const periodic = (name: string, run: () => Promise<unknown>) =>
    startPeriodic({ clock, log }, { name, everyMs: POLL_EVERY_MS, run })
  const dispatcher = new Dispatcher(deps)
  const relay = new Relay({ ...deps, dispatcher })
  const relaying = periodic('relay', () => relay.run())
  const sending = periodic('delivery', () => dispatcher.run())
  const resuming = periodic('resume held deliveries', async () => {
    if (await resumeHeld(db)) dispatcher.notifyDue()
  })
  const watching = watchBacklog(deps)
  dispatcher.onFlushDue = sending.soon
  const unsubscribe = [
    db.subscribe(EVENTS_WRITTEN, relaying.soon),
    db.subscribe(DESTINATIONS_CHANGED, resuming.soon),
    db.subscribe(DELIVERIES_DUE, () => dispatcher.notifyDue()),
  ]
  return {
    async stop() {
      relay.stop()
      dispatcher.stopClaiming()
      for (const stop of unsubscribe) stop()
      await Promise.all([watching, relaying, resuming, sending].map((job) => job.stop()))
      await dispatcher.drainAndStop()
    },
  }
}

function watchBacklog({ db, clock, log, metrics }: DeliveryDeps) {
  const show = backlogMetrics(metrics)
  const run = async () => {
    const at = await db.now()
    show(await readBacklog(db, at), at)
  }
  return startPeriodic({ clock, log }, { name: 'backlog', everyMs: BACKLOG_EVERY_MS, run })
}
