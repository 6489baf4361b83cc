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

  /** The next of a destination. */
  take(id: string): Sending | undefined {
    const waiting = this.#byDestination.get(id)
    const next = waiting?.shift()
    if (waiting?.length === 0) this.#byDestination.delete(id)
    return next?.sending
  }

  /** Takes those that have waited too long, of one destination or of all. */
  takeLate(now: number, ids: Iterable<string> = this.#byDestination.keys()): Sending[] {
    const late: Sending[] = []
    for (const id of ids)
      while ((this.#byDestination.get(id)?.[0]?.until ?? Number.POSITIVE_INFINITY) <= now)
        late.push(this.take(id)!)
    return late
  }
}
