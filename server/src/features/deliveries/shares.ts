import type { DestinationId, Room } from './exchange.ts'

/** Sends under way in one process. */
export const IN_FLIGHT_MOST = 512
/** What a destination begins with; doubled with every success, so that a healthy one soon gets all it can take. */
const SHARE_AT_FIRST = 4
const SHARE_MOST = 64
/**
 * Claimed beyond that where all goes well, so that there is something to send while the store is asked for more: no more
 * than, as fast as it answers, begins within a second, since what has waited for two is given up.
 */
export const AHEAD_MOST = 768
const AHEAD_MS = 1_000
/**
 * In flight and waiting of one that has yet to answer: as many as the first batch of events brings. Were one of them left in the
 * store, all that follow would have to queue up behind it there.
 */
export const HELD_AT_FIRST = 16
/** Taken for the time that a destination needs once something has waited for it in vain. */
const GAVE_UP_MS = 10_000
/** Of all destinations together. What waits takes nobody's place, only memory. */
const WAITING_MOST = 1_024
/** How much the last answer counts in what is known of a destination's speed. */
const LAST_COUNTS = 1 / 8
/** What is fanned out leaves so many for what is claimed: retries, and those whose queue is in the store. */
const LEFT_FOR_CLAIMS = 64
/** One that fails is asked by a single send at a time until it answers. */
const SHARE_FAILING = 1
/** Slower answers earn no more room: who takes long would otherwise hold a place for long, many times over. */
const SLOW_MS = 1_000
/**
 * Those that fail, are slow, or have yet to answer for the first time never take more than half together, so that
 * healthy ones always find room.
 */
const LIMITED_MOST = IN_FLIGHT_MOST / 2
/** Beyond this many, the failing ones that have long had nothing to send are forgotten. */
const KNOWN_MOST = 10_000
/**
 * Like a connection that was idle, one that has had nothing to send for this many claims begins small again: for seconds,
 * however many others there are whose queues are walked meanwhile.
 */
const IDLE_MOST = 50

interface Known extends DestinationId {
  inFlight: number
  /** Claimed, and waiting for a place. */
  waiting: number
  share: number
  /** How long it takes to answer, about; 0 until it has, or has failed to. */
  durationMs: number
  /** One of those that share a half. */
  limited: boolean
  /** For how many claims it has had nothing to send. */
  idle: number
  /** Something was sent to it since its place in the order was last looked at. */
  begun: boolean
}

export type Place = 'in flight' | 'waiting'

/** How many sends each destination may have in flight in this process: one that is slow or failing delays nobody else. */
export class Shares {
  readonly #known = new Map<string, Known>()
  #inFlight = 0
  #waiting = 0
  #beingClaimed = 0
  #limitedInFlight = 0

  get inFlight(): number {
    return this.#inFlight
  }

  get waiting(): number {
    return this.#waiting
  }

  /** In flight, or waiting to be. */
  get held(): number {
    return this.#inFlight + this.#waiting
  }

  get free(): number {
    return IN_FLIGHT_MOST - this.#inFlight
  }

  /** Of destinations that are not in `rooms`. */
  get share(): number {
    return this.#limitedInFlight < LIMITED_MOST ? SHARE_AT_FIRST : 0
  }

  /** Of every destination that something is known of. Where the half is not enough for all, they take turns. */
  rooms(): Room[] {
    let left = LIMITED_MOST - this.#limitedInFlight
    let aheadLeft = Math.max(0, WAITING_MOST - this.#waiting)
    const rooms: Room[] = []
    for (const known of this.#inOrder()) {
      if (this.#isForgotten(known)) continue
      const ahead = Math.min(aheadOf(known), known.waiting + aheadLeft)
      aheadLeft -= Math.max(0, ahead - known.waiting)
      const own = Math.max(0, known.share + ahead - known.inFlight - known.waiting)
      const room = known.limited ? Math.min(own, Math.max(0, left)) : own
      if (known.limited && room > 0) {
        left -= room
        this.#toTheEnd(known)
      }
      rooms.push({ project_id: known.project_id, id: known.id, room })
    }
    return rooms
  }

  begin(destination: DestinationId): void {
    const known = this.#of(destination)
    this.#known.set(known.id, known)
    known.begun = true
    this.#count(known, 1)
    if (this.#known.size > KNOWN_MOST) this.#forgetIdle()
  }

  /** As many as a claim that is under way may bring. */
  set beingClaimed(most: number) {
    this.#beingClaimed = most
  }

  /** Whether more may be in flight than there are, beside what is claimed. */
  get mayGrow(): boolean {
    return this.mayGrowBy > 0
  }

  get mayGrowBy(): number {
    return Math.max(0, this.free - this.#beingClaimed - LEFT_FOR_CLAIMS)
  }

  /** Takes a place for one that is about to be written: in flight or, where all goes well, among those that wait. */
  reserve(destination: DestinationId): Place | undefined {
    const known = this.#of(destination)
    if (known.limited && this.#limitedInFlight + this.#beingClaimed >= LIMITED_MOST) return undefined
    if (known.waiting === 0 && known.inFlight < known.share && this.mayGrow) {
      this.begin(destination)
      return 'in flight'
    }
    const most = known.limited ? WAITING_MOST / 2 : WAITING_MOST
    if (known.waiting >= mayWait(known) || this.#waiting >= most) return undefined
    this.wait(destination, 1)
    return 'waiting'
  }

  /** It was not written after all. */
  letGo(destination: DestinationId, place: Place): void {
    if (place === 'waiting') this.wait(destination, -1)
    else this.#count(this.#known.get(destination.id)!, -1)
  }

  /** One has waited in vain: for a while nothing is claimed ahead. */
  giveUp(destination: DestinationId): void {
    this.wait(destination, -1)
    this.#known.get(destination.id)!.durationMs = GAVE_UP_MS
  }

  /** Whether it takes all that it gets, as far as is known: what is left of it in the store is soon gone. */
  isQuick({ id }: DestinationId): boolean {
    const known = this.#known.get(id)
    if (!known || known.durationMs === 0) return true
    return !known.limited && aheadOf({ share: SHARE_MOST, durationMs: known.durationMs }) === AHEAD_MOST
  }

  mayBegin({ id }: DestinationId): boolean {
    const known = this.#known.get(id)
    return !known || known.inFlight < known.share
  }

  /** A claim that waits for a place, or waits no longer. */
  wait(destination: DestinationId, by: 1 | -1): void {
    const known = this.#of(destination)
    this.#known.set(known.id, known)
    known.waiting += by
    this.#waiting += by
  }

  #of({ project_id, id }: DestinationId): Known {
    const known = this.#known.get(id)
    if (known) return known
    const nothing = { inFlight: 0, waiting: 0, durationMs: 0, idle: 0, begun: false }
    return { project_id, id, share: SHARE_AT_FIRST, limited: true, ...nothing }
  }

  /** `succeeded` is null where nothing was learned. */
  end(
    { id }: DestinationId,
    { succeeded, durationMs }: { succeeded: boolean | null; durationMs: number },
  ): void {
    const known = this.#known.get(id)!
    this.#count(known, -1)
    if (succeeded !== null) this.#learn(known, succeeded, durationMs)
  }

  /** That one fails is remembered. */
  #isForgotten(known: Known): boolean {
    known.idle = known.inFlight + known.waiting > 0 ? 0 : known.idle + 1
    if (known.idle <= IDLE_MOST || known.share === SHARE_FAILING) return false
    return this.#known.delete(known.id)
  }

  #learn(known: Known, succeeded: boolean, durationMs: number): void {
    if (known.limited) this.#limitedInFlight -= known.inFlight
    const slow = durationMs > SLOW_MS
    const last = Math.max(durationMs, 1)
    known.durationMs =
      known.durationMs === 0 ? last : known.durationMs + (last - known.durationMs) * LAST_COUNTS
    known.limited = !succeeded || slow
    if (!succeeded) known.share = SHARE_FAILING
    else known.share = slow ? SHARE_AT_FIRST : Math.min(known.share * 2, SHARE_MOST)
    if (known.limited) this.#limitedInFlight += known.inFlight
  }

  #count(known: Known, by: number): void {
    known.inFlight += by
    this.#inFlight += by
    if (known.limited) this.#limitedInFlight += by
  }

  /**
   * Those that have long had nothing come first. Put in order when it matters, and not with every send: a map that changes all the
   * time leaves one table after the other to the collector.
   */
  #inOrder(): Known[] {
    for (const known of [...this.#known.values()]) if (known.begun) this.#toTheEnd(known)
    return [...this.#known.values()]
  }

  #toTheEnd(known: Known): void {
    known.begun = false
    this.#known.delete(known.id)
    this.#known.set(known.id, known)
  }

  #forgetIdle(): void {
    for (const { id, inFlight, waiting } of this.#inOrder()) {
      if (inFlight + waiting === 0) this.#known.delete(id)
      if (this.#known.size <= KNOWN_MOST / 2) return
    }
  }
}

/** Beside those that wait for its own places, those that only wait until there are some for anyone. */
function mayWait(known: Known): number {
  if (!known.limited) return aheadOf(known) + Math.max(0, known.share - known.inFlight)
  return known.durationMs === 0 ? HELD_AT_FIRST - SHARE_AT_FIRST : 0
}

function aheadOf({ share, durationMs }: Pick<Known, 'share' | 'durationMs'>): number {
  if (share < SHARE_MOST) return 0
  return Math.min(AHEAD_MOST, Math.floor((share * AHEAD_MS) / Math.max(durationMs, 1)))
}
