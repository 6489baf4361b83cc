import type { Clock } from '../../platform/clock.ts'
import type { Dispatcher } from './dispatcher.ts'
import { EVENTS_AT_ONCE, type FanOut } from './fan-out.ts'
import { DELIVERIES_AT_ONCE } from './fan-out-batch.ts'
import { HELD_AT_FIRST } from './shares.ts'

/**
 * Whatever there is room for, no batch is smaller, but where each event goes to many: others in it are not to wait for one that is
 * slow. The first is for receivers that nobody knows, which can hold as many.
 */
export const EVENTS_FEW = HELD_AT_FIRST
/** So many small batches where most had to be left in the store and little is moving, for the same reason. */
const FEW_MOST = 3
/** Sends that end in a millisecond where receivers take what they get. */
const MOVING = 1.5

/**
 * What is fanned out waits for room, so that it can be sent at once: for a moment, and only while receivers take what they get,
 * since there may be others in it. Longer where an event goes to many.
 */
const pauseMostMs = (perEvent: number): number => Math.min(Math.max(50, perEvent / 4), 250)
/** For deliveries: it need not be there for a whole batch. */
const ROOM_ENOUGH = 400
/** What ends within this time goes into one batch: each is an exchange with the store, whatever it brings. */
const GATHER_MS = 25
/**
 * So much it waits in all where little is moving, or for what is left in the store: others may wait for that as well. A tenth of the time
 * that goes by comes back.
 */
const PATIENCE_MS = 1_000
const PATIENCE_BACK = 1 / 10

/** What is known of what is being sent. */
type Sends = Pick<Dispatcher, 'endings' | 'room' | 'hasRoomFor' | 'maySettle' | 'isBehind' | 'pause'>

/** How many events a batch is to have: no more than can be sent at once, as far as one can tell. */
export class Pace {
  readonly #sends: Sends
  readonly #clock: Clock
  /** Deliveries of an event, about. */
  #perEvent = 1
  /** Batches of which most was left since receivers last took what they got. */
  #stuck = 0
  /** The last pause brought no room, or less than it was for. */
  #wasInVain = false
  #fellShort = false
  #patienceMs = PATIENCE_MS
  #patientAt: number
  #endingsPerMs = 0
  #endings: number
  #at: number

  constructor(sends: Sends, clock: Clock) {
    this.#sends = sends
    this.#clock = clock
    this.#endings = sends.endings
    this.#at = clock.monotonic()
    this.#patientAt = this.#at
  }

  /** After a batch, for the next one. */
  async next({ events, kept, left, leftToQuick }: FanOut): Promise<number> {
    this.#perEvent = Math.max(1, Math.ceil((kept + left) / events))
    const wasLeft = left > kept
    const isSoonGone = leftToQuick > left / 2 && (await this.#untilGone())
    if (isSoonGone) this.#stuck = 0
    else if (this.#stuck <= FEW_MOST) await this.#untilRoom(wasLeft)
    if (this.#isMoving()) this.#stuck = 0
    else if (wasLeft && !isSoonGone) this.#stuck++
    // More than one batch may have would only be taken and let go again.
    return Math.min(this.#wanted(events, wasLeft), Math.ceil(DELIVERIES_AT_ONCE / this.#perEvent))
  }

  #wanted(events: number, wasLeft: boolean): number {
    if (this.#stuck > FEW_MOST) return EVENTS_AT_ONCE
    if (wasLeft) return EVENTS_FEW
    const fitting = Math.max(EVENTS_FEW, Math.floor(this.#sends.room / this.#perEvent))
    return Math.min(fitting, 2 * Math.max(events, EVENTS_FEW), EVENTS_AT_ONCE)
  }

  /**
   * Who takes all that it gets and has something in the store, since the machine stood still or at the start, gets everything by the
   * store until that is gone, at a third of the speed: the more comes behind it, the longer that takes. Whether there was patience for it.
   */
  #untilGone(): Promise<boolean> {
    return this.#pausePatiently(() => !this.#sends.isBehind)
  }

  async #pausePatiently(isEnough: () => boolean): Promise<boolean> {
    const [ms, began] = [pauseMostMs(this.#perEvent), this.#clock.monotonic()]
    const back = (began - this.#patientAt) * PATIENCE_BACK
    this.#patienceMs = Math.min(this.#patienceMs + back, PATIENCE_MS)
    this.#patientAt = began
    if (this.#patienceMs < ms) return false
    if (!isEnough()) await this.#sends.pause(ms, isEnough)
    this.#patientAt = this.#clock.monotonic()
    this.#patienceMs -= this.#patientAt - began
    return true
  }

  async #untilRoom(wasLeft: boolean): Promise<void> {
    const sends = this.#sends
    const least = Math.max(this.#perEvent, Math.min(EVENTS_FEW * this.#perEvent, ROOM_ENOUGH))
    const enough = Math.max(least, Math.min(this.#endingsPerMs * GATHER_MS, ROOM_ENOUGH))
    const fits = (deliveries: number) => sends.hasRoomFor(deliveries) && !(wasLeft && sends.isBehind)
    const isRoom = () => fits(least)
    const isEnough = () => fits(enough)
    // What waits may be for receivers that take their time: others are not to wait for them before every batch. A store that cannot
    // keep up is waited for.
    const isVain = isRoom() ? this.#fellShort : this.#wasInVain && sends.maySettle(least)
    if (isVain && !isEnough()) return
    const until = this.#fellShort ? isRoom : isEnough
    // Who cannot settle is waited for, however long it takes.
    const isFree = this.#endingsPerMs >= MOVING || !sends.maySettle(least)
    if (!isEnough())
      await (isFree ? sends.pause(pauseMostMs(this.#perEvent), until) : this.#pausePatiently(until))
    this.#wasInVain = !isRoom()
    this.#fellShort = !isEnough()
  }

  /** Since the last batch. */
  #isMoving(): boolean {
    const [endings, at] = [this.#sends.endings, this.#clock.monotonic()]
    // Of a clock that stood still nothing is learned.
    if (at > this.#at) this.#endingsPerMs = (endings - this.#endings) / (at - this.#at)
    this.#endings = endings
    this.#at = at
    return this.#endingsPerMs >= MOVING
  }
}
