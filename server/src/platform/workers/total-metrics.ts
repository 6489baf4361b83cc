import { addUp, countsOnly, type Family, familiesText } from '../metric-families.ts'
import { addProcessMetrics, type Counter, createMetrics } from '../metrics.ts'
import type { WorkerProcess } from './worker-process.ts'

/** What the whole service has counted: its workers, those that have ended, and the primary itself. */
export class TotalMetrics {
  readonly #own = createMetrics()
  #ended: Family[] = []
  readonly replaced: Counter

  constructor() {
    addProcessMetrics(this.#own)
    this.replaced = this.#own.counter(
      'jeton_workers_replaced_total',
      'Workers that ended and were replaced.',
    )()
    // Shown from the start: a counter that only appears with its first count hides that count from `rate`.
    this.replaced.add(0)
  }

  /** A total that fell would pass for a restart, and all of it would be counted once more: what it last said is kept. */
  keep({ families }: WorkerProcess): void {
    this.#ended = addUp([this.#ended, countsOnly(families)])
  }

  async text(workers: readonly WorkerProcess[]): Promise<string> {
    await Promise.all(workers.map((worker) => worker.count()))
    return familiesText(
      addUp([...workers.map(({ families }) => families), this.#own.families(), this.#ended]),
    )
  }
}
