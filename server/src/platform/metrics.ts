import { performance } from 'node:perf_hooks'
import { METRICS, type MetricDescription } from '../contract/metrics.ts'
import { LabelLimits, type Labels } from './label-limits.ts'
import { type Family, familiesText, type Sample } from './metric-families.ts'

/** Counters, gauges and histograms in the Prometheus text format. Counting costs one addition; text is created on request. */

interface Metric extends Omit<Family, 'samples'> {
  samples(): readonly Sample[]
}

export interface Counter {
  add(amount?: number): void
}

export interface Histogram {
  observe(seconds: number): void
}

/** Seconds; from a cached verdict to the request timeout. */
const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

class Series<T> {
  readonly #known = new Map<string, T>()
  readonly #limits: LabelLimits
  readonly #make: (labels: Labels) => T

  constructor(limits: LabelLimits, make: (labels: Labels) => T) {
    this.#limits = limits
    this.#make = make
  }

  of(labels: Labels): T {
    return this.#known.get(JSON.stringify(labels)) ?? this.#limited(this.#limits.limit(labels))
  }

  #limited(labels: Labels): T {
    const key = JSON.stringify(labels)
    const known = this.#known.get(key)
    if (known) return known
    const one = this.#make(labels)
    this.#known.set(key, one)
    return one
  }

  *[Symbol.iterator](): IterableIterator<T> {
    yield* this.#known.values()
  }
}

export interface Metrics {
  /** Keep the result if it counts often, because the lookup by labels is the expensive part. */
  counter(name: string): (labels?: Labels) => Counter
  histogram(name: string): (labels?: Labels) => Histogram
  /** A gauge or a counter whose value is maintained elsewhere. Undefined omits it. */
  read(name: string, value: () => number | undefined): void
  /** A gauge with labels, read on request. The caller limits how many series there are. */
  readMany(name: string, values: () => readonly Omit<Sample, 'name'>[]): void
  text(): string
  /** The content of `text` as data. */
  families(): Family[]
}

export function createMetrics(catalog: Readonly<Record<string, MetricDescription>> = METRICS): Metrics {
  const metrics: Metric[] = []
  const limits = new LabelLimits()
  function add(name: string, samples: () => readonly Sample[]): void {
    const found = catalog[name]
    if (!found) throw new Error(`The metric ${name} is not in the catalog.`)
    const { type, help, aggregate = 'sum' } = found
    metrics.push({ name, type, help, aggregate, samples })
  }
  const families = (): Family[] => metrics.map(({ samples, ...rest }) => ({ ...rest, samples: samples() }))

  return {
    counter(name) {
      const series = new Series(limits, (labels) => {
        const one = {
          labels,
          count: 0,
          add(amount = 1) {
            one.count += amount
          },
        }
        return one
      })
      add(name, () => [...series].map(({ labels, count }) => ({ name, labels, value: count })))
      return (labels = {}) => series.of(labels)
    },

    histogram(name) {
      const series = new Series(limits, (labels) => {
        const counts = new Array<number>(BUCKETS.length + 1).fill(0)
        const one = {
          labels,
          counts,
          sum: 0,
          observe(seconds: number) {
            let i = 0
            while (i < BUCKETS.length && seconds > BUCKETS[i]!) i++
            counts[i]!++
            one.sum += seconds
          },
        }
        return one
      })
      const samples = () =>
        [...series].flatMap(({ labels, counts, sum }): Sample[] => {
          let total = 0
          const buckets = counts.map((count, i) => {
            total += count
            const le = String(BUCKETS[i] ?? '+Inf')
            return { name: `${name}_bucket`, labels: { ...labels, le }, value: total }
          })
          return [
            ...buckets,
            { name: `${name}_sum`, labels, value: sum },
            { name: `${name}_count`, labels, value: total },
          ]
        })
      add(name, samples)
      return (labels = {}) => series.of(labels)
    },

    read(name, value) {
      add(name, () => {
        const now = value()
        return now === undefined ? [] : [{ name, labels: {}, value: now }]
      })
    },

    readMany(name, values) {
      add(name, () => values().map((one) => ({ name, ...one })))
    },

    text: () => familiesText(families()),
    families,
  }
}

export function addProcessMetrics(metrics: Metrics): void {
  const start = Date.now() / 1000 - process.uptime()
  metrics.read('process_start_time_seconds', () => start)
  metrics.read('process_resident_memory_bytes', () => process.memoryUsage.rss())
  metrics.read('process_cpu_seconds_total', () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  })
  metrics.read('nodejs_heap_used_bytes', () => process.memoryUsage().heapUsed)
  metrics.read('nodejs_eventloop_utilization', () => performance.eventLoopUtilization().utilization)
}
