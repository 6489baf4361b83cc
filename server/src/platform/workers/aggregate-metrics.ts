import { aggregateFamilies, countsOnly, type Family, familiesText } from '../metric-families.ts'
import { addProcessMetrics, type Counter, createMetrics } from '../metrics.ts'
import type { WorkerProcess } from './worker-process.ts'

/** Metrics of the whole service: its workers, workers that have ended, and the supervisor itself. */
export class AggregateMetrics {
  readonly #own = createMetrics()
  #ended: Family[] = []
  readonly replaced: Counter

  constructor() {
    addProcessMetrics(this.#own)
    const name = 'jeton_workers_replaced_total'
    this.replaced = this.#own.counter(name, 'HTTP processes that ended and were replaced.')()
    // Set from the start, because `rate` misses the first increment of a new counter.
    this.replaced.add(0)
  }

  /** Keeps the counters of a worker that has ended. Prometheus would treat a smaller total as a restart. */
  keep({ families }: WorkerProcess): void {
    this.#ended = aggregateFamilies([this.#ended, countsOnly(families)])
  }

  async text(workers: readonly WorkerProcess[]): Promise<string> {
    await Promise.all(workers.map((worker) => worker.refreshMetrics()))
    const reported = workers.map(({ families }) => families)
    return familiesText(aggregateFamilies([...reported, this.#own.families(), this.#ended]))
  }
}
