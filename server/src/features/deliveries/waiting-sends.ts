import type { Sending } from './settlement.ts'

interface Waiting {
  readonly sending: Sending
  /** By the monotonic clock. */
  readonly until: number
  next: Waiting | undefined
}

interface Queue {
  first: Waiting | undefined
  last: Waiting | undefined
}

/** What is claimed and waits for a place, by destination, oldest first. */
export class WaitingSends {
  /** None is empty. */
  readonly #byDestination = new Map<string, Queue>()

  add(sending: Sending, until: number): void {
    const { id } = sending.destination
    const waiting: Waiting = { sending, until, next: undefined }
    const queue = this.#byDestination.get(id)
    if (queue) queue.last!.next = waiting
    if (queue) queue.last = waiting
    else this.#byDestination.set(id, { first: waiting, last: waiting })
  }

  has(id: string): boolean {
    return this.#byDestination.has(id)
  }

  /** The next of a destination. */
  take(id: string): Sending | undefined {
    const queue = this.#byDestination.get(id)
    const first = queue?.first
    if (!queue || !first) return undefined
    queue.first = first.next
    if (!first.next) {
      this.#byDestination.delete(id)
      queue.last = undefined
    }
    // What has become old, and is gone, must not lead to what came after it: the collector would keep all of that.
    first.next = undefined
    return first.sending
  }

  /** Whether the next of a destination has waited too long by then. */
  isLate(id: string, now: number): boolean {
    const first = this.#byDestination.get(id)?.first
    return first !== undefined && first.until <= now
  }

  /** Takes those that have waited too long by then. */
  takeLate(now: number): Sending[] {
    const late: Sending[] = []
    for (const id of this.#byDestination.keys()) while (this.isLate(id, now)) late.push(this.take(id)!)
    return late
  }
}
