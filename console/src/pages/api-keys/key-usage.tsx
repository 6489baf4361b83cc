import type { Schemas } from '../../api/client.ts'
import { useApi } from '../../api/query.ts'
import { Card } from '../../components/card.tsx'
import { Skeleton } from '../../components/notices.tsx'
import { countText } from '../../components/number-text.ts'
import { TimeChart } from '../../components/time-chart.tsx'
import { useMinutesAgo } from '../../components/time-range.ts'
import { timesOf } from '../../components/usage-series.ts'

const DAY_MINUTES = 24 * 60
const METRICS = [
  ['calls', 'calls', '--series-1'],
  ['introspections', 'introspections', '--series-2'],
  ['tokens_issued', 'tokens issued', '--series-3'],
  ['refusals', 'refused', '--series-5'],
] as const

/** Requests of a key by the hour. Together they are the count of the title. */
export function KeyUsage({ apiKey: { id, project_id, usage_24h } }: { apiKey: Schemas['ApiKey'] }) {
  const from = useMinutesAgo(DAY_MINUTES)
  const read = (metric: (typeof METRICS)[number][0]) => ({
    path: { project_id },
    query: { metric, by: 'key' as const, only: id, step: 'hour' as const, from },
  })
  const usages = [
    useApi('/projects/{project_id}/usage', read('calls')),
    useApi('/projects/{project_id}/usage', read('introspections')),
    useApi('/projects/{project_id}/usage', read('tokens_issued')),
    useApi('/projects/{project_id}/usage', read('refusals')),
  ]
  const isLoading = usages.some(({ data, error }) => data === undefined && error === null)
  const used = usages.find(({ data }) => data && data.series.length > 0)?.data
  const times = used ? timesOf(used) : []
  const series = METRICS.map(([, label, color], at) => {
    const points = usages[at]?.data?.series[0]?.points
    return { label, color, values: points?.map(([, count]) => count ?? 0) ?? times.map(() => 0) }
  })
  return (
    <Card title="Requests in 24 h" aside={<span className="big">{countText(usage_24h.requests)}</span>}>
      {used ? (
        <TimeChart
          times={times}
          series={series}
          label={`${usage_24h.requests} requests of this key in 24 h`}
        />
      ) : isLoading ? (
        <Skeleton lines={5} />
      ) : (
        <p className="dim">No requests in the last 24 hours.</p>
      )}
    </Card>
  )
}
