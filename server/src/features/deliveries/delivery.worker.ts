import { setTimeout as sleep } from 'node:timers/promises'
import { startPeriodic } from '../../platform/worker/index.ts'
import { EVENTS_WRITTEN } from '../events/index.ts'
import { DESTINATIONS_CHANGED } from '../webhooks/index.ts'
import { type Backlog, DELIVERIES_DUE, readBacklog, releaseHeld } from './delivery.store.ts'
import { type DeliveryDeps, Dispatcher } from './dispatcher.ts'
import { EVENTS_AT_ONCE, type FanOut, fanOut } from './fan-out.ts'

/** What guarantees that nothing is forgotten, where a wake-up is not heard; an idle round costs two reads. */
const POLL_EVERY_MS = 500
const BACKLOG_EVERY_MS = 15_000

/** A batch that is kept small: who is new is sent to by a few at a time. */
const EVENTS_FEW = 16
/** So many small batches, and no more: where a receiver is slow, those behind it in the queue must not wait for it. */
const FEW_MOST = 3

/** What is fanned out waits for room, so that it can be sent at once; but only for a moment, since there may be others in it. */
const PAUSE_MS = 5
/** Longer where an event goes to many: as long as it takes to send it. */
const pauseMostMs = (deliveries: number): number => Math.min(Math.max(50, deliveries / 4), 250)

async function untilRoom(dispatcher: Dispatcher, deliveries: number): Promise<void> {
  const most = pauseMostMs(deliveries)
  for (let waited = 0; waited < most && !dispatcher.hasRoomFor(deliveries); waited += PAUSE_MS)
    await sleep(PAUSE_MS)
}

/** How many events the next batch is to have: no more than can be sent at once, as far as one can tell. */
class Pace {
  /** Deliveries of an event, about. */
  perEvent = 1
  #few = 0

  most(room: number): number {
    const most = this.#few > 0 && this.#few <= FEW_MOST ? EVENTS_FEW : EVENTS_AT_ONCE
    return Math.max(1, Math.min(most, Math.floor(room / this.perEvent)))
  }

  saw({ events, kept, left }: FanOut): void {
    this.perEvent = Math.max(1, Math.ceil((kept + left) / events))
    this.#few = left > kept ? this.#few + 1 : 0
  }
}

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
  /** Sending begins with the first batch, not after the last. */
  async function fanOutAll(): Promise<void> {
    const pace = new Pace()
    let [from, wholeAt] = [0, clock.monotonic()]
    let most = EVENTS_FEW
    while (!stopped) {
      const done = await fanOut({ ...deps, outlet: dispatcher, most, from })
      if (done.events === 0) return
      if (done.left > 0) look()
      pace.saw(done)
      await untilRoom(dispatcher, pace.perEvent)
      most = Math.min(pace.most(dispatcher.room), 2 * done.events)
      // What lies before it is gone, but for a transaction that was late: the whole queue is looked at now and then.
      from = done.upTo
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
