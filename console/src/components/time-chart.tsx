import { useEffect, useRef } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { useTheme } from '../styles/theme.ts'
import { type ChartSeries, chartOptions, type TimeChartProps } from './chart-options.ts'

export type { ChartSeries, TimeChartProps }

/** Sums the series from the bottom up, since uPlot draws each value from zero. */
function stacked(series: readonly ChartSeries[]): (number | null)[][] {
  const sums: number[] = []
  return series.map(({ values }) => values.map((value, at) => (sums[at] = (sums[at] ?? 0) + (value ?? 0))))
}

/** Values over time, in the colours of the theme. */
export function TimeChart(props: TimeChartProps) {
  const { times, series, isStacked = false, height = 160, label } = props
  const frame = useRef<HTMLDivElement>(null)
  const theme = useTheme()
  const shape = `${theme} ${height} ${props.limit?.value} ${series.map((one) => one.label + one.color).join('|')}`
  const plot = useRef<uPlot | null>(null)
  const latest = useRef(props)
  latest.current = props

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new shape needs a new chart, new data does not
  useEffect(() => {
    const element = frame.current!
    const created = new uPlot(chartOptions(latest, element), [[]], element)
    plot.current = created
    const observer = new ResizeObserver(() => created.setSize({ width: element.clientWidth, height }))
    observer.observe(element)
    return () => {
      observer.disconnect()
      created.destroy()
      plot.current = null
    }
  }, [shape])

  // biome-ignore lint/correctness/useExhaustiveDependencies: also after the chart was created again
  useEffect(() => {
    const drawn = isStacked ? stacked(series).reverse() : series.map(({ values }) => [...values])
    plot.current?.setData([[...times], ...drawn])
  }, [times, series, shape])

  return (
    <figure className="chart">
      <div ref={frame} role="img" aria-label={label} />
      <figcaption className="legend">
        {series.map((one) => (
          <span key={one.label}>
            <i style={{ background: `var(${one.color})` }} /> {one.label}
          </span>
        ))}
      </figcaption>
    </figure>
  )
}
