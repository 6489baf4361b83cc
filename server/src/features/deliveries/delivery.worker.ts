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
  const { db } = deps
  const periodic = (name: string, purpose: string, run: () => Promise<unknown>) =>
    startPeriodic(deps, { name, purpose, everyMs: POLL_EVERY_MS, run })
  const dispatcher = new Dispatcher(deps)
  const relay = new Relay({ ...deps, dispatcher })
  const relaying = periodic('relay', 'Creates the deliveries of new events', () => relay.run())
  const sending = periodic('delivery', 'Sends deliveries and stores their results', () => dispatcher.run())
  const resuming = periodic(
    'resume',
    'Makes held deliveries due after their destination was enabled',
    async () => {
      if (await resumeHeld(db)) dispatcher.notifyDue()
    },
  )
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

function watchBacklog(deps: DeliveryDeps) {
  const { db, metrics } = deps
  const show = backlogMetrics(metrics)
  const run = async () => {
    const at = await db.now()
    show(await readBacklog(db, at), at)
  }
  const purpose = 'Counts due deliveries for the metrics'
  return startPeriodic(deps, { name: 'backlog', purpose, everyMs: BACKLOG_EVERY_MS, run })
}
