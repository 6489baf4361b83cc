import { startPeriodic } from '../../platform/worker/index.ts'
import { EVENTS_WRITTEN } from '../events/index.ts'
import { DESTINATIONS_CHANGED } from '../webhooks/index.ts'
import { type Backlog, DELIVERIES_DUE, readBacklog, releaseHeld } from './delivery.store.ts'
import { type DeliveryDeps, Dispatcher } from './dispatcher.ts'
import { fanOut } from './fan-out.ts'
import { EVENTS_FEW, Pace } from './pace.ts'

/** What guarantees that nothing is forgotten, where a wake-up is not heard; an idle round costs one look at each of the two queues. */
const POLL_EVERY_MS = 500
const BACKLOG_EVERY_MS = 15_000

/** What is written a little later than what comes after it is found within this time; all else by the look at everything. */
const LATE_MS = 1_000

/** Fans out what has happened and sends what is due, until it is stopped. Any number of processes share a store. */
export function startDelivery(deps: DeliveryDeps): { stop(): Promise<void> } {
  const { db, clock, log } = deps
  const dispatcher = new Dispatcher(deps)
  const sending = startPeriodic(
    { clock, log },
    { name: 'delivery', everyMs: POLL_EVERY_MS, run: () => dispatcher.run() },
  )
  function look(): void {
    dispatcher.look()
    sending.soon()
  }
  let stopped = false
  const pace = new Pace(dispatcher, clock)
  /** Sending begins with the first batch, not after the last. */
  async function fanOutAll(): Promise<void> {
    let [from, wholeAt] = [0, clock.monotonic()]
    let most = EVENTS_FEW
    // While nothing can be written, what is being sent must not be taken for what nobody sends.
    while (!stopped && !dispatcher.isFailing) {
      const done = await fanOut({ ...deps, outlet: dispatcher, most, from })
      if (done.events === 0) return
      if (done.left > 0) look()
      most = await pace.next(done)
      // What lies before is gone, but for transactions that were late: the whole queue is looked at now and then.
      from = done.upTo - LATE_MS
      if (clock.monotonic() - wholeAt > POLL_EVERY_MS) [from, wholeAt] = [0, clock.monotonic()]
    }
  }
  async function release(): Promise<void> {
    if (await releaseHeld(db)) look()
  }
  const fanning = startPeriodic({ clock, log }, { name: 'fan-out', everyMs: POLL_EVERY_MS, run: fanOutAll })
  const releasing = startPeriodic({ clock, log }, { name: 'release', everyMs: POLL_EVERY_MS, run: release })
  const watching = watchBacklog(deps)
  dispatcher.onEnded = sending.soon
  const stopWakes = [
    db.onWake(EVENTS_WRITTEN, fanning.soon),
    db.onWake(DESTINATIONS_CHANGED, releasing.soon),
    db.onWake(DELIVERIES_DUE, look),
  ]
  return {
    async stop() {
      stopped = true
      dispatcher.stopClaiming()
      for (const stopWake of stopWakes) stopWake()
      await Promise.all([watching, fanning, releasing, sending].map((job) => job.stop()))
      await dispatcher.finish()
    },
  }
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
