import { addUp, countsOnly, type Family, familiesText } from '../metric-families.ts'
import { addProcessMetrics, type Counter, createMetrics } from '../metrics.ts'
import type { WorkerProcess } from './worker-process.ts'

/** The metrics of the whole service: its workers, the workers that have ended, and the supervisor itself. */
export class AggregateMetrics {
  readonly #own = createMetrics()
  #ended: Family[] = []
  readonly replaced: Counter

  constructor() {
    addProcessMetrics(this.#own)
    const name = 'jeton_workers_replaced_total'
    this.replaced = this.#own.counter(name, 'Workers that ended and were replaced.')()
    // Shown from the start: `rate` does not see the first count of a counter that appears with it.
    this.replaced.add(0)
  }

  /** Keeps the counts of a worker that has ended: Prometheus would read a smaller total as a restart and count it all again. */
  keep({ families }: WorkerProcess): void {
    this.#ended = addUp([this.#ended, countsOnly(families)])
  }

  async text(workers: readonly WorkerProcess[]): Promise<string> {
    await Promise.all(workers.map((worker) => worker.refreshMetrics()))
    const reported = workers.map(({ families }) => families)
    return familiesText(addUp([...reported, this.#own.families(), this.#ended]))
  }
}
