import type { Sending } from './settlement.ts'

interface Waiting {
  readonly sending: Sending
  /** By the monotonic clock. */
  readonly until: number
  next: Waiting | undefined
}

interface Queue {
  first: Waiting
  last: Waiting
}

/** What is claimed and waits for a place, by destination, oldest first. */
export class WaitingSends {
  /** None is empty. */
  readonly #byDestination = new Map<string, Queue>()

  add(sending: Sending, until: number): void {
    const { id } = sending.destination
    const waiting: Waiting = { sending, until, next: undefined }
    const queue = this.#byDestination.get(id)
    if (!queue) this.#byDestination.set(id, { first: waiting, last: waiting })
    else {
      queue.last.next = waiting
      queue.last = waiting
    }
  }

  has(id: string): boolean {
    return this.#byDestination.has(id)
  }

  /** The next of a destination. */
  take(id: string): Sending | undefined {
    const queue = this.#byDestination.get(id)
    if (!queue) return undefined
    const { sending, next } = queue.first
    if (next) queue.first = next
    else this.#byDestination.delete(id)
    return sending
  }

  /** Takes those that have waited too long by then, of these destinations or of all. */
  takeLate(now: number, ids: Iterable<string> = this.#byDestination.keys()): Sending[] {
    const late: Sending[] = []
    for (const id of ids)
      for (let queue = this.#byDestination.get(id); queue && queue.first.until <= now; ) {
        late.push(this.take(id)!)
        queue = this.#byDestination.get(id)
      }
    return late
  }
}
