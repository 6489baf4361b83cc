/** Metrics as plain data, which can be sent from one process to another and added up. */
export interface Family {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  /** How the values of several processes of one service become one. */
  readonly aggregate: Aggregate
  /** Each series as it is written, labels included, and its value. */
  readonly samples: readonly (readonly [series: string, value: number])[]
}

export type Aggregate = 'sum' | 'max' | 'min'

const JOIN: Record<Aggregate, (a: number, b: number) => number> = {
  sum: (a, b) => a + b,
  max: Math.max,
  min: Math.min,
}

/** One service's metrics from those of its processes: what was counted is added up. */
export function addUp(processes: readonly (readonly Family[])[]): Family[] {
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

/** What a process that has ended leaves behind: what it has counted stays counted, what it held is gone. */
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
