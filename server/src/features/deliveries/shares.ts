import type { DestinationId, Room } from './exchange.ts'

/** Sends under way in one process. */
export const IN_FLIGHT_MOST = 512
/** What a destination begins with; doubled with every success, so that a healthy one soon gets all it can take. */
const SHARE_AT_FIRST = 4
const SHARE_MOST = 64
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

interface Known extends DestinationId {
  inFlight: number
  share: number
  /** One of those that share a half. */
  limited: boolean
}

/** How many sends each destination may have in flight in this process: one that is slow or failing delays nobody else. */
export class Shares {
  readonly #known = new Map<string, Known>()
  #inFlight = 0
  #limitedInFlight = 0

  get inFlight(): number {
    return this.#inFlight
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
    const rooms: Room[] = []
    for (const known of [...this.#known.values()]) {
      const own = Math.max(0, known.share - known.inFlight)
      const room = known.limited ? Math.min(own, Math.max(0, left)) : own
      if (known.limited && room > 0) {
        left -= room
        this.#toTheEnd(known)
      }
      rooms.push({ project_id: known.project_id, id: known.id, room })
    }
    return rooms
  }

  begin({ project_id, id }: DestinationId): void {
    const fresh = { project_id, id, inFlight: 0, share: SHARE_AT_FIRST, limited: true }
    const known = this.#known.get(id) ?? fresh
    this.#toTheEnd(known)
    this.#count(known, 1)
    this.#forgetIdle()
  }

  /** `succeeded` is null where nothing was learned. */
  end(
    { id }: DestinationId,
    { succeeded, durationMs }: { succeeded: boolean | null; durationMs: number },
  ): void {
    const known = this.#known.get(id)!
    this.#count(known, -1)
    if (succeeded !== null) this.#learn(known, succeeded, durationMs)
    // Like a connection that was idle, it begins small again; that it fails is remembered.
    if (known.inFlight === 0 && known.share !== SHARE_FAILING) this.#known.delete(id)
  }

  #learn(known: Known, succeeded: boolean, durationMs: number): void {
    if (known.limited) this.#limitedInFlight -= known.inFlight
    const slow = durationMs > SLOW_MS
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

  /** The first ones of the map are those that have long had nothing. */
  #toTheEnd(known: Known): void {
    this.#known.delete(known.id)
    this.#known.set(known.id, known)
  }

  #forgetIdle(): void {
    if (this.#known.size <= KNOWN_MOST) return
    for (const [id, { inFlight }] of this.#known) {
      if (inFlight === 0) this.#known.delete(id)
      if (this.#known.size <= KNOWN_MOST / 2) return
    }
  }
}
