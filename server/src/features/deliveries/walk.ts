import type { Claim, DestinationId, ExchangeOutput } from './exchange.ts'

/** Where nothing says that something is due, the queues are looked at no more often: at every poll of an idle worker. */
const LOOK_EVERY_MS = 450

const FROM_THE_START: DestinationId = { project_id: '', id: '' }

interface Seen {
  readonly claim: Claim
  readonly out: ExchangeOutput
  /** When the claim was asked for. */
  readonly at: number
  /** Whether little can be told from what a destination leaves in its queue. */
  isLimited(destination: DestinationId): boolean
}

/** The way from queue to queue through the store, claim by claim, and what was learned on it about what is left. */
export class Walk {
  #after = FROM_THE_START
  #lapFromTheStart = true
  #mayFind = true
  #lookedAt = 0
  #isBehind = false
  #mayBeLeft = false

  /** The next claim goes on behind this destination. */
  get after(): DestinationId {
    return this.#after
  }

  /** The last lap left some that are due, of destinations that have done well. */
  get isBehind(): boolean {
    return this.#isBehind
  }

  /** Something has fallen due. */
  look(): void {
    this.#mayFind = true
  }

  /** Whether something may be due. */
  mayFind(now: number): boolean {
    if (now - this.#lookedAt >= LOOK_EVERY_MS) this.#mayFind = true
    return this.#mayFind
  }

  /** False after one lap from the first queue to the last: who is due then has no room. */
  saw(seen: Seen): boolean {
    const { claim, out, at } = seen
    const isNewLap = claim.after === FROM_THE_START
    if (isNewLap) this.#lapFromTheStart = true
    this.#after = out.next ?? FROM_THE_START
    const goesOn = out.next !== null || !this.#lapFromTheStart
    if (out.next === null) this.#lapFromTheStart = false

    const left = leftBy(seen)
    this.#isBehind = left.isBehind || (this.#isBehind && !isNewLap)
    this.#mayBeLeft = left.mayBeLeft || (this.#mayBeLeft && !isNewLap)
    this.#mayFind = goesOn || this.#mayBeLeft
    this.#lookedAt = at
    return goesOn
  }
}

/** A destination that got all that there was room for may have more. */
function leftBy({ claim, out, isLimited }: Seen): { isBehind: boolean; mayBeLeft: boolean } {
  const { most, share, rooms } = claim
  const roomOf = new Map(rooms.map(({ id, room }) => [id, room]))
  const takenOf = Map.groupBy(out.deliveries, ({ destination_id }) => destination_id)
  const filled = out.destinations.filter(
    ({ id }) => (takenOf.get(id)?.length ?? 0) >= (roomOf.get(id) ?? share),
  )
  const isCut = out.deliveries.length >= most
  return {
    isBehind: isCut || filled.some((one) => !isLimited(one)),
    mayBeLeft: isCut || filled.length > 0 || rooms.some(({ room }) => room === 0),
  }
}
