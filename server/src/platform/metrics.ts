/** Counters, gauges and histograms in the text format of Prometheus. Counting costs one addition; text is made when asked for. */

interface Metric {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  lines(): string[]
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
  /** Hold on to the result where it counts often: the look-up by labels is the costly part. */
  counter(name: string, help: string): (labels?: Labels) => Counter
  histogram(name: string, help: string): (labels?: Labels) => Histogram
  gauge(name: string, help: string, read: () => number | undefined): void
  /** A counter that someone else keeps. */
  countedElsewhere(name: string, help: string, read: () => number): void
  text(): string
}

export function createMetrics(): Metrics {
  const metrics: Metric[] = []

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
      const lines = () => [...series].map((one) => `${name}${labelText(one.labels)} ${one.count}`)
      metrics.push({ name, help, type: 'counter', lines })
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
      const lines = () =>
        [...series].flatMap(({ labels, counts, sum }) => {
          let total = 0
          const buckets = counts.map((count, i) => {
            total += count
            return `${name}_bucket${labelText(labels, `le="${BUCKETS[i] ?? '+Inf'}"`)} ${total}`
          })
          return [
            ...buckets,
            `${name}_sum${labelText(labels)} ${sum}`,
            `${name}_count${labelText(labels)} ${total}`,
          ]
        })
      metrics.push({ name, help, type: 'histogram', lines })
      return (labels = {}) => series.of(labels)
    },

    gauge(name, help, read) {
      const lines = () => {
        const value = read()
        return value === undefined ? [] : [`${name} ${value}`]
      }
      // By the naming rule of Prometheus what ends in `_total` only grows, and so it is a counter that we merely read.
      metrics.push({ name, help, type: name.endsWith('_total') ? 'counter' : 'gauge', lines })
    },

    countedElsewhere(name, help, read) {
      metrics.push({ name, help, type: 'counter', lines: () => [`${name} ${read()}`] })
    },

    text: () =>
      metrics
        .map(
          ({ name, help, type, lines }) =>
            `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines().join('\n')}\n`,
        )
        .join(''),
  }
}

export function addProcessMetrics(metrics: Metrics): void {
  const start = Date.now() / 1000 - process.uptime()
  metrics.gauge('process_start_time_seconds', 'When the process started, unix time.', () => start)
  metrics.gauge('process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage.rss())
  metrics.countedElsewhere('process_cpu_seconds_total', 'Processor time used, user and system.', () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  })
  metrics.gauge('nodejs_heap_used_bytes', 'JavaScript heap in use.', () => process.memoryUsage().heapUsed)
  metrics.gauge(
    'nodejs_eventloop_utilization',
    'Share of time that the event loop was busy since the start.',
    () => performance.eventLoopUtilization().utilization,
  )
}
