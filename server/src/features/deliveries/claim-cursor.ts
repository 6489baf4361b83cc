import type { Claimed, ClaimRequest, DestinationId } from './delivery-queue.ts'

/** Interval of checks without a notification: at every poll of an idle worker. */
const CHECK_EVERY_MS = 450

const FIRST_QUEUE: DestinationId = { project_id: '', id: '' }

/** The position of the claims in their round over all queues, and whether due deliveries may remain in the store. */
export class ClaimCursor {
  #position = FIRST_QUEUE
  #isNotified = true
  #mayHaveLeft = false
  #claimedAt = Number.NEGATIVE_INFINITY

  /** The next claim visits the queues after this destination. */
  get position(): DestinationId {
    return this.#position
  }

  /** True if this round or the last one left due deliveries behind, or has not visited their queue yet. */
  get mayHaveDue(): boolean {
    return this.#mayHaveLeft || this.#isNotified
  }

  notifyDue(): void {
    this.#isNotified = true
  }

  shouldClaim(now: number): boolean {
    const isInRound = this.#position !== FIRST_QUEUE
    return this.mayHaveDue || isInRound || now - this.#claimedAt >= CHECK_EVERY_MS
  }

  /** Call before a claim is sent. The claim may miss what becomes due from now on, or in a queue already visited. */
  start(now: number): void {
    if (this.#position === FIRST_QUEUE) this.#isNotified = false
    this.#claimedAt = now
  }

  /** Moves to the next position. Returns true if the round has more queues. */
  advance(claim: ClaimRequest, claimed: Claimed): boolean {
    const isNewRound = claim.cursor === FIRST_QUEUE
    this.#position = claimed.next ?? FIRST_QUEUE
    this.#mayHaveLeft = mayLeaveDue(claim, claimed) || (this.#mayHaveLeft && !isNewRound)
    return claimed.next !== null
  }
}

/** A destination that got as many deliveries as it can take may have more. */
function mayLeaveDue({ limit, capacities, defaultCapacity }: ClaimRequest, claimed: Claimed): boolean {
  if (claimed.deliveries.length >= limit || Object.values(capacities).includes(0)) return true
  const byDestination = Map.groupBy(claimed.deliveries, ({ destination_id }) => destination_id)
  const capacityOf = (id: string) => capacities[id] ?? defaultCapacity
  return claimed.targets.some(({ id }) => (byDestination.get(id)?.length ?? 0) >= capacityOf(id))
}
