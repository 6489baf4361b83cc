import type { Claim, DestinationId, ExchangeOutput } from './exchange.ts'

/** Where nothing says that something is due, the queues are looked at no more often: at every poll of an idle worker. */
const LOOK_EVERY_MS = 450

const FROM_THE_START: DestinationId = { project_id: '', id: '' }

/** The way from queue to queue through the store, claim by claim, lap by lap, and whether something may be left there. */
export class Walk {
  #after = FROM_THE_START
  #hasFallenDue = true
  #mayBeLeft = false
  #askedAt = Number.NEGATIVE_INFINITY

  /** The next claim goes on behind this destination. */
  get after(): DestinationId {
    return this.#after
  }

  /** Whether this lap, or the last one, has left something that is due, for want of room, or has yet to see it. */
  get mayBeLeft(): boolean {
    return this.#mayBeLeft || this.#hasFallenDue
  }

  /** Something has fallen due. */
  look(): void {
    this.#hasFallenDue = true
  }

  /** Whether something may be due. */
  mayFind(now: number): boolean {
    const isUnderWay = this.#after !== FROM_THE_START
    return this.#hasFallenDue || this.#mayBeLeft || isUnderWay || now - this.#askedAt >= LOOK_EVERY_MS
  }

  /** A claim is on its way. What falls due from now on it may not see, nor what did in queues that this lap has passed. */
  asks(now: number): void {
    if (this.#after === FROM_THE_START) this.#hasFallenDue = false
    this.#askedAt = now
  }

  /** Whether there are further queues. */
  saw(claim: Claim, out: ExchangeOutput): boolean {
    const isNewLap = claim.after === FROM_THE_START
    this.#after = out.next ?? FROM_THE_START
    this.#mayBeLeft = mayLeave(claim, out) || (this.#mayBeLeft && !isNewLap)
    return out.next !== null
  }
}

/** A destination that got all that there was room for may have more. */
function mayLeave({ most, share, rooms }: Claim, { deliveries, destinations }: ExchangeOutput): boolean {
  if (deliveries.length >= most || rooms.some(({ room }) => room === 0)) return true
  const roomOf = new Map(rooms.map(({ id, room }) => [id, room]))
  const takenOf = Map.groupBy(deliveries, ({ destination_id }) => destination_id)
  return destinations.some(({ id }) => (takenOf.get(id)?.length ?? 0) >= (roomOf.get(id) ?? share))
}
