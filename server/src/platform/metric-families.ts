import type { MetricDescription } from '../contract/metrics.ts'

/** Metrics as plain data, which can be sent to another process and aggregated. */
export interface Family {
  readonly name: string
  readonly help: string
  readonly type: MetricDescription['type']
  readonly aggregate: Aggregate
  /** Series with their labels, and their values. */
  readonly samples: readonly (readonly [series: string, value: number])[]
}

type Aggregate = 'sum' | NonNullable<MetricDescription['aggregate']>

const JOIN: Record<Aggregate, (a: number, b: number) => number> = {
  sum: (a, b) => a + b,
  max: Math.max,
  min: Math.min,
}

/** Combines the metrics of the processes of a service. */
export function aggregateFamilies(processes: readonly (readonly Family[])[]): Family[] {
  const byName = Map.groupBy(processes.flat(), ({ name }) => name)
  return [...byName.values()].map((families) => ({ ...families[0]!, samples: joined(families) }))
}

function joined(families: readonly Family[]): [string, number][] {
  const join = JOIN[families[0]!.aggregate]
  const values = new Map<string, number>()
  for (const { samples } of families)
    for (const [series, value] of samples) {
      const other = values.get(series)
      values.set(series, other === undefined ? value : join(other, value))
    }
  return [...values]
}

/** Metrics of a process that has ended: counters are kept, gauges are dropped. */
export const countsOnly = (families: readonly Family[]): Family[] =>
  families.filter(({ type }) => type !== 'gauge')

/** The text format of Prometheus. */
export const familiesText = (families: readonly Family[]): string =>
  families
    .map(
      ({ name, help, type, samples }) =>
        `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${samples.map(([series, value]) => `${series} ${value}`).join('\n')}\n`,
    )
    .join('')
