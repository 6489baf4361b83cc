import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../platform/clock.ts'
import { startPeriodic } from '../../platform/worker/index.ts'
import { EVENTS_WRITTEN } from '../events/index.ts'
import { DESTINATIONS_CHANGED } from '../webhooks/index.ts'
import { type Backlog, DELIVERIES_DUE, readBacklog, releaseHeld } from './delivery.store.ts'
import { type DeliveryDeps, Dispatcher } from './dispatcher.ts'
import { EVENTS_AT_ONCE, type FanOut, fanOut } from './fan-out.ts'

/** What guarantees that nothing is forgotten, where a wake-up is not heard; an idle round costs two reads. */
const POLL_EVERY_MS = 500
const BACKLOG_EVERY_MS = 15_000

/** What is written a little later than what comes after it is found within this time; all else by the look at everything. */
const LATE_MS = 1_000

/** No batch is smaller, whatever there is room for: others in it are not to wait for one that is slow. */
const EVENTS_FEW = 16
/** So many small batches where most had to be left in the store and little is moving, for the same reason. */
const FEW_MOST = 3
/** Sends that end in a millisecond where receivers take what they get. */
const MOVING = 1.5

/**
 * What is fanned out waits for room, so that it can be sent at once: for a moment, and only while receivers take what they get,
 * since there may be others in it. Longer where most of a batch was left in the store, and where an event goes to many.
 */
const PAUSE_MS = 5
const pauseMostMs = (perEvent: number, wasLeft: boolean): number =>
  Math.min(Math.max(wasLeft ? 50 : 20, perEvent / 4), 250)
/** For deliveries: it need not be there for a whole batch. */
const ROOM_ENOUGH = 400

/** How many events a batch is to have: no more than can be sent at once, as far as one can tell. */
class Pace {
  readonly #dispatcher: Dispatcher
  readonly #clock: Clock
  /** Deliveries of an event, about. */
  #perEvent = 1
  /** Batches of which most was left since receivers last took what they got. */
  #stuck = 0
  #endings: number
  #at: number

  constructor(dispatcher: Dispatcher, clock: Clock) {
    this.#dispatcher = dispatcher
    this.#clock = clock
    this.#endings = dispatcher.endings
    this.#at = clock.monotonic()
  }

  /** After a batch, for the next one. */
  async next({ events, kept, left }: FanOut): Promise<number> {
    this.#perEvent = Math.max(1, Math.ceil((kept + left) / events))
    const wasLeft = left > kept
    if (this.#stuck <= FEW_MOST) await this.#untilRoom(wasLeft)
    if (this.#isMoving()) this.#stuck = 0
    else if (wasLeft) this.#stuck++
    if (this.#stuck > FEW_MOST) return EVENTS_AT_ONCE
    if (wasLeft) return EVENTS_FEW
    const fitting = Math.max(EVENTS_FEW, Math.floor(this.#dispatcher.room / this.#perEvent))
    return Math.min(fitting, 2 * Math.max(events, EVENTS_FEW), EVENTS_AT_ONCE)
  }

  async #untilRoom(wasLeft: boolean): Promise<void> {
    const dispatcher = this.#dispatcher
    const least = Math.max(this.#perEvent, Math.min(EVENTS_FEW * this.#perEvent, ROOM_ENOUGH))
    const isRoom = () => dispatcher.hasRoomFor(least) && !(wasLeft && dispatcher.isBehind)
    const most = pauseMostMs(this.#perEvent, wasLeft)
    for (let waited = 0; waited < most && !isRoom(); waited += PAUSE_MS) await sleep(PAUSE_MS)
  }

  /** Since the last batch. */
  #isMoving(): boolean {
    const [endings, at] = [this.#dispatcher.endings, this.#clock.monotonic()]
    const isMoving = endings - this.#endings >= MOVING * (at - this.#at)
    this.#endings = endings
    this.#at = at
    return isMoving
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
