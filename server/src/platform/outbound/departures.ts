/** A request that is ready to be written. */
interface Departing {
  depart(): void
}

/**
 * What is to be written over lines that are open leaves together, once everything that has come in this turn is read. Written one
 * by one, between answers, each request would wake a receiver on the same machine, which then takes the processor for that one.
 */
export class Departures {
  #ready: Departing[] = []

  add(departing: Departing): void {
    this.#ready.push(departing)
    if (this.#ready.length === 1) setImmediate(this.#leave)
  }

  readonly #leave = (): void => {
    const ready = this.#ready
    this.#ready = []
    for (const departing of ready) departing.depart()
  }
}
