import { Skeleton } from '../../components/notices.tsx'
import { Strip } from '../../components/strip.tsx'
import { TimeChart } from '../../components/time-chart.tsx'
import { cellsOf, hoursOf, stripLabel, useHours } from './attempt-strip.ts'
import { latencyText } from './destinations-page.tsx'

interface ChartProps {
  readonly projectId: string
  readonly id: string
}

export function AttemptChart({ projectId, id }: ChartProps) {
  const attempts = useHours(projectId, 'deliveries')
  const failures = useHours(projectId, 'failed_deliveries')
  if (!attempts || !failures) return <Skeleton />
  const hours = hoursOf(id, attempts, failures)
  if (hours.length === 0) return <p className="dim">Nothing was sent in the last 24 hours.</p>
  return (
    <div className="stack tight">
      <span className="wide-strip">
        <Strip cells={cellsOf(hours)} label={stripLabel(hours)} />
      </span>
      <TimeChart
        label={stripLabel(hours)}
        times={hours.map(({ at }) => at)}
        series={[
          { label: 'delivered', color: '--ok', values: hours.map(({ delivered }) => delivered) },
          { label: 'failed', color: '--bad', values: hours.map(({ failed }) => failed) },
        ]}
        isStacked
      />
    </div>
  )
}

export function LatencyChart({ projectId, id }: ChartProps) {
  const usage = useHours(projectId, 'delivery_latency')
  if (!usage) return <Skeleton />
  const pointsOf = (name: string) => usage.series.find(({ key }) => key === `${id} ${name}`)?.points ?? []
  const [p50, p95] = [pointsOf('p50'), pointsOf('p95')]
  if (p95.every(([, ms]) => ms === null))
    return <p className="dim">Nothing was delivered in the last 24 hours.</p>
  const values = (points: typeof p50) => points.map(([, ms]) => ms ?? null)
  return (
    <TimeChart
      label="Median and 95th percentile of the time from the event to its arrival"
      times={p95.map(([at]) => at ?? 0)}
      series={[
        { label: 'p50', color: '--series-1', values: values(p50) },
        { label: 'p95', color: '--series-2', values: values(p95) },
      ]}
      format={latencyText}
    />
  )
}
