import type { Schemas } from '../api/client.ts'
import type { ChartSeries } from './chart-options.ts'

type Usage = Schemas['Usage']

const COLORS = ['--series-1', '--series-2', '--series-3', '--series-4', '--series-5']
const OTHER = 'others'

export const timesOf = (usage: Usage): number[] => usage.series[0]?.points.map(([at]) => at ?? 0) ?? []

const valuesOf = (series: Usage['series'][number]): (number | null)[] =>
  series.points.map(([, value]) => value ?? null)

const highestOf = (series: Usage['series'][number]): number =>
  Math.max(...valuesOf(series).map((value) => value ?? 0))

const sum = (rows: readonly (readonly (number | null)[])[]): number[] =>
  (rows[0] ?? []).map((_, at) => rows.reduce((total, row) => total + (row[at] ?? 0), 0))

/** Usage as lines or areas: the largest by name, and the rest together. The first colours may be those of other series. */
export function seriesOf(usage: Usage, nameOf: (key: string) => string, usedColors = 0): ChartSeries[] {
  const colors = COLORS.slice(usedColors)
  const named = usage.series.filter(({ key }) => key !== 'other')
  // Counts come with the largest first. Levels have no sum to be sorted by.
  if (usage.metric === 'active_tokens') named.sort((a, b) => highestOf(b) - highestOf(a))
  const shown = named.slice(0, colors.length)
  const rest = usage.series.filter((one) => !shown.includes(one)).map(valuesOf)
  return [
    ...shown.map((one, at) => ({ label: nameOf(one.key ?? ''), color: colors[at]!, values: valuesOf(one) })),
    ...(rest.length > 0 ? [{ label: OTHER, color: '--series-other', values: sum(rest) }] : []),
  ]
}

/** The last value that was measured. */
export const lastOf = (values: readonly (number | null)[]): number | null =>
  values.findLast((value) => value !== null) ?? null
