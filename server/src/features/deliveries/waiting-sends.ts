import type { Sending } from './settlement.ts'

interface Waiting {
  readonly sending: Sending
  /** By the monotonic clock. */
  readonly until: number
}

/** What is claimed and waits for a place, by destination, oldest first. */
export class WaitingSends {
  readonly #byDestination = new Map<string, Waiting[]>()

  add(sending: Sending, until: number): void {
    const { id } = sending.destination
    const waiting = this.#byDestination.get(id)
    if (waiting) waiting.push({ sending, until })
    else this.#byDestination.set(id, [{ sending, until }])
  }

  has(id: string): boolean {
    return this.#byDestination.has(id)
  }

  /** The next of a destination. */
  take(id: string): Sending | undefined {
    const waiting = this.#byDestination.get(id)
    const next = waiting?.shift()
    if (waiting?.length === 0) this.#byDestination.delete(id)
    return next?.sending
  }

  /** Takes those that have waited too long by then, of these destinations or of all. */
  takeLate(now: number, ids: Iterable<string> = this.#byDestination.keys()): Sending[] {
    const late: Sending[] = []
    for (const id of ids) {
      const waiting = this.#byDestination.get(id) ?? []
      while (waiting.length > 0 && waiting[0]!.until <= now) late.push(this.take(id)!)
    }
    return late
  }
}
