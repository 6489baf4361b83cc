import { LabelLimits } from '../label-limits.ts'
import { aggregateFamilies, countsOnly, type Family, familiesText } from '../metric-families.ts'
import { addProcessMetrics, type Counter, createMetrics } from '../metrics.ts'
import type { HttpProcess } from './http-process.ts'

/** Metrics of the whole service: its processes, processes that have ended, and the supervisor itself. */
export class AggregateMetrics {
  readonly #own = createMetrics()
  /** Again for all processes together, including those that have ended: each has chosen its own values. */
  readonly #limits = new LabelLimits()
  #ended: Family[] = []
  readonly replaced: Counter

  constructor() {
    addProcessMetrics(this.#own)
    this.replaced = this.#own.counter('jeton_workers_replaced_total')()
    // Set from the start, because `rate` misses the first increment of a new counter.
    this.replaced.add(0)
  }

  /** Keeps the counters of a process that has ended. Prometheus would treat a smaller total as a restart. */
  keep({ families }: HttpProcess): void {
    this.#ended = aggregateFamilies([this.#ended, countsOnly(families)], this.#limits)
  }

  async text(processes: readonly HttpProcess[]): Promise<string> {
    await Promise.all(processes.map((one) => one.refreshMetrics()))
    const reported = processes.map(({ families }) => families)
    return familiesText(aggregateFamilies([...reported, this.#own.families(), this.#ended], this.#limits))
  }
}
