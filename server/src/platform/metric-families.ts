import type { MetricDescription } from '../contract/metrics.ts'
import type { LabelLimits, Labels } from './label-limits.ts'

export interface Sample {
  /** The name of the metric; of a histogram with `_bucket`, `_sum` or `_count`. */
  readonly name: string
  readonly labels: Labels
  readonly value: number
}

/** Metrics as plain data, which can be sent to another process and aggregated. */
export interface Family {
  readonly name: string
  readonly help: string
  readonly type: MetricDescription['type']
  readonly aggregate: Aggregate
  readonly samples: readonly Sample[]
}

type Aggregate = 'sum' | NonNullable<MetricDescription['aggregate']>

const JOIN: Record<Exclude<Aggregate, 'any'>, (a: number, b: number) => number> = {
  sum: (a, b) => a + b,
  max: Math.max,
  min: Math.min,
}

/** Combines the metrics of the processes of a service. */
export function aggregateFamilies(processes: readonly (readonly Family[])[], limits: LabelLimits): Family[] {
  const byName = Map.groupBy(processes.flat(), ({ name }) => name)
  return [...byName.values()].map((families) => ({ ...families[0]!, samples: joined(families, limits) }))
}

function joined(families: readonly Family[], limits: LabelLimits): readonly Sample[] {
  const { aggregate } = families[0]!
  if (aggregate === 'any') return families.find(({ samples }) => samples.length > 0)?.samples ?? []
  const join = JOIN[aggregate]
  const joinedBySeries = new Map<string, Sample>()
  for (const { samples } of families)
    for (const sample of samples) {
      const limited = { ...sample, labels: limits.limit(sample.labels) }
      const series = seriesText(limited)
      const other = joinedBySeries.get(series)
      const value = other ? join(other.value, limited.value) : limited.value
      joinedBySeries.set(series, { ...limited, value })
    }
  return [...joinedBySeries.values()]
}

/** Metrics of a process that has ended: counters are kept, gauges are dropped. */
export const countsOnly = (families: readonly Family[]): Family[] =>
  families.filter(({ type }) => type !== 'gauge')

const escaped = (value: string): string => value.replace(/[\\"\n]/g, (c) => (c === '\n' ? '\\n' : `\\${c}`))

function seriesText({ name, labels }: Sample): string {
  const parts = Object.entries(labels).map(([label, value]) => `${label}="${escaped(value)}"`)
  return parts.length > 0 ? `${name}{${parts.join(',')}}` : name
}

const sampleText = (sample: Sample): string => `${seriesText(sample)} ${sample.value}`

/** The text format of Prometheus. */
export const familiesText = (families: readonly Family[]): string =>
  families
    .map(
      ({ name, help, type, samples }) =>
        `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${samples.map(sampleText).join('\n')}\n`,
    )
    .join('')
