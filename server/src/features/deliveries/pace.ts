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
  #endingsPerMs = 0
  #endings: number
  #at: number

  constructor(sends: Sends, clock: Clock) {
    this.#sends = sends
    this.#clock = clock
    this.#endings = sends.endings
    this.#at = clock.monotonic()
  }

  /** After a batch, for the next one. */
  async next({ events, kept, left }: FanOut): Promise<number> {
    this.#perEvent = Math.max(1, Math.ceil((kept + left) / events))
    const wasLeft = left > kept
    if (this.#stuck <= FEW_MOST) await this.#untilRoom(wasLeft)
    if (this.#isMoving()) this.#stuck = 0
    else if (wasLeft) this.#stuck++
    // More than one batch may have would only be taken and let go again.
    return Math.min(this.#wanted(events, wasLeft), Math.ceil(DELIVERIES_AT_ONCE / this.#perEvent))
  }

  #wanted(events: number, wasLeft: boolean): number {
    if (this.#stuck > FEW_MOST) return EVENTS_AT_ONCE
    if (wasLeft) return EVENTS_FEW
    const fitting = Math.max(EVENTS_FEW, Math.floor(this.#sends.room / this.#perEvent))
    return Math.min(fitting, 2 * Math.max(events, EVENTS_FEW), EVENTS_AT_ONCE)
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
    if (!isEnough()) await sends.pause(pauseMostMs(this.#perEvent), this.#fellShort ? isRoom : isEnough)
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
