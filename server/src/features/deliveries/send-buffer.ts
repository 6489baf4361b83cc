import type { EventRow } from '../events/index.ts'
import type { ClaimedRow, Target } from './delivery-queue.ts'

/** A delivery that this process has claimed, with everything that is required to send it. */
export interface ClaimedDelivery {
  readonly claimId: string
  /** Monotonic time before the claim was sent to the store. */
  readonly claimedAt: number
  readonly delivery: ClaimedRow
  readonly event: EventRow
  readonly target: Target
}

/** Deliveries that are claimed and not started: one FIFO queue per destination, served round robin. */
export class SendBuffer {
  /** Ordered by turn. Contains no empty queue. */
  readonly #queues = new Map<string, ClaimedDelivery[]>()
  #size = 0

  get size(): number {
    return this.#size
  }

  /** Ids of the destinations with buffered deliveries, ordered by turn. */
  destinations(): string[] {
    return [...this.#queues.keys()]
  }

  add(claimed: ClaimedDelivery): void {
    const { id } = claimed.target
    const queue = this.#queues.get(id)
    if (queue) queue.push(claimed)
    else this.#queues.set(id, [claimed])
    this.#size++
  }

  /** Removes the next delivery of a destination, which then waits for its next turn. */
  take(id: string): ClaimedDelivery | undefined {
    const queue = this.#queues.get(id)
    const first = queue?.shift()
    if (!queue || !first) return undefined
    this.#size--
    this.#queues.delete(id)
    if (queue.length > 0) this.#queues.set(id, queue)
    return first
  }

  /** Removes the deliveries that were claimed before this time. */
  removeExpired(claimedBefore: number): ClaimedDelivery[] {
    const expired: ClaimedDelivery[] = []
    for (const [id, queue] of this.#queues) {
      const kept = queue.filter(({ claimedAt }) => claimedAt >= claimedBefore)
      if (kept.length === queue.length) continue
      expired.push(...queue.filter(({ claimedAt }) => claimedAt < claimedBefore))
      if (kept.length > 0) this.#queues.set(id, kept)
      else this.#queues.delete(id)
    }
    this.#size -= expired.length
    return expired
  }
}
