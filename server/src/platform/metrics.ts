import { performance } from 'node:perf_hooks'
import { METRICS, type MetricDescription } from '../contract/metrics.ts'
import { type Family, familiesText } from './metric-families.ts'

/** Counters, gauges and histograms in the Prometheus text format. Counting costs one addition; text is created on request. */

type Sample = Family['samples'][number]

interface Metric extends Omit<Family, 'samples'> {
  samples(): Sample[]
}

type Labels = Readonly<Record<string, string>>

const escaped = (value: string): string => value.replace(/[\\"\n]/g, (c) => (c === '\n' ? '\\n' : `\\${c}`))

function labelText(labels: Labels, extra = ''): string {
  const parts = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`)
  if (extra) parts.push(extra)
  return parts.length > 0 ? `{${parts.join(',')}}` : ''
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
  readonly #make: (labels: Labels) => T

  constructor(make: (labels: Labels) => T) {
    this.#make = make
  }

  of(labels: Labels): T {
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
  text(): string
  /** The content of `text` as data. */
  families(): Family[]
}

export function createMetrics(catalog: Readonly<Record<string, MetricDescription>> = METRICS): Metrics {
  const metrics: Metric[] = []
  function add(name: string, samples: () => Sample[]): void {
    const found = catalog[name]
    if (!found) throw new Error(`The metric ${name} is not in the catalog.`)
    const { type, help, aggregate = 'sum' } = found
    metrics.push({ name, type, help, aggregate, samples })
  }
  const families = (): Family[] => metrics.map(({ samples, ...rest }) => ({ ...rest, samples: samples() }))

  return {
    counter(name) {
      const series = new Series((labels) => {
        const one = {
          labels,
          count: 0,
          add(amount = 1) {
            one.count += amount
          },
        }
        return one
      })
      const samples = () => [...series].map((one): Sample => [`${name}${labelText(one.labels)}`, one.count])
      add(name, samples)
      return (labels = {}) => series.of(labels)
    },

    histogram(name) {
      const series = new Series((labels) => {
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
          const buckets = counts.map((count, i): Sample => {
            total += count
            return [`${name}_bucket${labelText(labels, `le="${BUCKETS[i] ?? '+Inf'}"`)}`, total]
          })
          return [
            ...buckets,
            [`${name}_sum${labelText(labels)}`, sum],
            [`${name}_count${labelText(labels)}`, total],
          ]
        })
      add(name, samples)
      return (labels = {}) => series.of(labels)
    },

    read(name, value) {
      add(name, () => {
        const now = value()
        return now === undefined ? [] : [[name, now]]
      })
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
