import type { DestinationId, Room } from './exchange.ts'

/** Sends under way in one process. Sockets and bodies of 512 take a few megabytes. */
export const IN_FLIGHT_MOST = 512
/** What a destination begins with; doubled with every success, so that a healthy one soon gets all it can take. */
const SHARE_AT_FIRST = 4
const SHARE_MOST = 64
/** One that fails is asked by a single send at a time until it answers. */
const SHARE_FAILING = 1
/** All that fail together never take more than half, so that healthy ones always find room. */
const FAILING_MOST = IN_FLIGHT_MOST / 2
/** Beyond this many, the failing ones that have long had nothing to send are forgotten. */
const KNOWN_MOST = 10_000

interface Known extends DestinationId {
  inFlight: number
  share: number
}

/** How many sends each destination may have in flight in this process: one that is slow or failing delays nobody else. */
export class Shares {
  readonly #known = new Map<string, Known>()
  #inFlight = 0
  #failingInFlight = 0

  readonly share = SHARE_AT_FIRST

  get inFlight(): number {
    return this.#inFlight
  }

  get free(): number {
    return IN_FLIGHT_MOST - this.#inFlight
  }

  /** Of every destination that is not as one that is new. */
  rooms(): Room[] {
    const failingIsFull = this.#failingInFlight >= FAILING_MOST
    return [...this.#known.values()].map(({ project_id, id, share, inFlight }) => ({
      project_id,
      id,
      room: share === SHARE_FAILING && failingIsFull ? 0 : Math.max(0, share - inFlight),
    }))
  }

  begin({ project_id, id }: DestinationId): void {
    const known = this.#known.get(id) ?? { project_id, id, inFlight: 0, share: SHARE_AT_FIRST }
    // Anew at the end: the first ones of the map are those that have long had nothing.
    this.#known.delete(id)
    this.#known.set(id, known)
    known.inFlight++
    this.#count(known, 1)
    this.#forgetIdle()
  }

  /** `succeeded` is null where nothing was learned. */
  end({ id }: DestinationId, succeeded: boolean | null): void {
    const known = this.#known.get(id)!
    this.#count(known, -1)
    known.inFlight--
    if (succeeded !== null) this.#learn(known, succeeded)
    // Like a connection that was idle, it begins small again; that it fails is remembered.
    if (known.inFlight === 0 && known.share !== SHARE_FAILING) this.#known.delete(id)
  }

  #learn(known: Known, succeeded: boolean): void {
    if (known.share === SHARE_FAILING) this.#failingInFlight -= known.inFlight
    known.share = succeeded ? Math.min(known.share * 2, SHARE_MOST) : SHARE_FAILING
    if (known.share === SHARE_FAILING) this.#failingInFlight += known.inFlight
  }

  #count({ share }: Known, by: number): void {
    this.#inFlight += by
    if (share === SHARE_FAILING) this.#failingInFlight += by
  }

  #forgetIdle(): void {
    if (this.#known.size <= KNOWN_MOST) return
    for (const [id, { inFlight }] of this.#known) {
      if (inFlight === 0) this.#known.delete(id)
      if (this.#known.size <= KNOWN_MOST / 2) return
    }
  }
}
