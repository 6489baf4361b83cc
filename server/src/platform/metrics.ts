import { performance } from 'node:perf_hooks'
import { type Aggregate, type Family, familiesText } from './metric-families.ts'

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
  counter(name: string, help: string): (labels?: Labels) => Counter
  histogram(name: string, help: string): (labels?: Labels) => Histogram
  /** `aggregate` combines the values of several processes, for example `max` for a value that all processes share. */
  gauge(name: string, help: string, read: () => number | undefined, aggregate?: Aggregate): void
  /** A counter whose value is maintained elsewhere. */
  countedElsewhere(name: string, help: string, read: () => number): void
  text(): string
  /** The content of `text` as data. */
  families(): Family[]
}

export function createMetrics(): Metrics {
  const metrics: Metric[] = []
  const families = (): Family[] => metrics.map(({ samples, ...rest }) => ({ ...rest, samples: samples() }))

  return {
    counter(name, help) {
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
      metrics.push({ name, help, type: 'counter', aggregate: 'sum', samples })
      return (labels = {}) => series.of(labels)
    },

    histogram(name, help) {
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
      metrics.push({ name, help, type: 'histogram', aggregate: 'sum', samples })
      return (labels = {}) => series.of(labels)
    },

    gauge(name, help, read, aggregate = 'sum') {
      const samples = (): Sample[] => {
        const value = read()
        return value === undefined ? [] : [[name, value]]
      }
      // By Prometheus naming rules, `_total` is a counter.
      metrics.push({ name, help, type: name.endsWith('_total') ? 'counter' : 'gauge', aggregate, samples })
    },

    countedElsewhere(name, help, read) {
      metrics.push({ name, help, type: 'counter', aggregate: 'sum', samples: () => [[name, read()]] })
    },

    text: () => familiesText(families()),
    families,
  }
}

export function addProcessMetrics(metrics: Metrics): void {
  const start = Date.now() / 1000 - process.uptime()
  metrics.gauge(
    'process_start_time_seconds',
    'Start time of the process, in Unix seconds.',
    () => start,
    'min',
  )
  metrics.gauge('process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage.rss())
  metrics.countedElsewhere('process_cpu_seconds_total', 'CPU time used, user and system.', () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  })
  metrics.gauge('nodejs_heap_used_bytes', 'JavaScript heap in use.', () => process.memoryUsage().heapUsed)
  metrics.gauge(
    'nodejs_eventloop_utilization',
    'Fraction of time that the event loop was busy since the start.',
    () => performance.eventLoopUtilization().utilization,
    'max',
  )
}
