import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Schemas } from '../../api/client.ts'
import { useKeyNames } from '../../api/key-names.ts'
import { useApi } from '../../api/query.ts'
import { Card } from '../../components/card.tsx'
import type { ChartSeries } from '../../components/chart-options.ts'
import { Loaded } from '../../components/loaded.tsx'
import { countText } from '../../components/number-text.ts'
import { TimeChart, type TimeChartProps } from '../../components/time-chart.tsx'
import { useMinutesAgo } from '../../components/time-range.ts'
import { lastOf, seriesOf, timesOf } from '../../components/usage-series.ts'
import { useProjectId } from '../../routing/project-route.tsx'
import { useRole } from '../../session/session.tsx'
import { OldestDue } from './oldest-due.tsx'

type Usage = Schemas['Usage']

const POLL_MS = 15_000
const HOUR_MINUTES = 60

/** Usage of this project by the minute. */
function useHour(metric: Usage['metric'], by: Usage['by'] = 'none') {
  const query = { metric, by, step: 'minute', from: useMinutesAgo(HOUR_MINUTES) }
  const path = { project_id: useProjectId() }
  return useApi('/projects/{project_id}/usage', { path, query: query as never }, { pollMs: POLL_MS })
}

export const LastHour = () => (
  <section className="columns" aria-label="The last hour">
    <TokensChart />
    <DecisionsChart />
    <LatencyChart />
    <RedemptionsChart />
  </section>
)

function TokensChart() {
  const project_id = useProjectId()
  const nameOf = useKeyNames(project_id)
  const usage = useApi('/projects/{project_id}/token-usage', { path: { project_id } }, { pollMs: POLL_MS })
  const limit = usage.data?.token_limit
  return (
    <Chart
      title="Active tokens by key"
      figure={usage.data && countText(usage.data.active_tokens)}
      query={useHour('active_tokens', 'key')}
      seriesFrom={(data) => seriesOf(data, nameOf)}
      empty="No token was active in the last hour."
      isStacked
      {...(limit && { limit: { value: limit, label: `limit ${countText(limit)}` } })}
    />
  )
}

const reasonText = (key: string): string => key.replaceAll('_', ' ')

/** One area for each reason, on top of the allowed calls. */
function DecisionsChart() {
  const calls = useHour('calls')
  const refusals = useHour('refusals', 'reason')
  const refused = refusals.data?.total ?? 0
  const allowedFrom = (data: Usage): ChartSeries[] => {
    const [allowed] = seriesOf(data, () => 'allowed')
    const reasons = refusals.data ? seriesOf(refusals.data, reasonText, 1) : []
    return [...(allowed ? [allowed] : []), ...reasons]
  }
  return (
    <Chart
      title="Decisions in the last hour"
      figure={calls.data && countText((calls.data.total ?? 0) + refused)}
      note={refused > 0 ? `${countText(refused)} refused` : undefined}
      query={calls.data?.series.length === 0 && refusals.data ? refusals : calls}
      seriesFrom={(data) => (data === calls.data ? allowedFrom(data) : seriesOf(data, reasonText, 1))}
      empty="No call was decided in the last hour."
      isStacked
    />
  )
}

function LatencyChart() {
  const latency = useHour('delivery_latency')
  const median = latency.data?.series
    .find(({ key }) => key === 'p50')
    ?.points.map(([, value]) => value ?? null)
  const last = median && lastOf(median)
  const { seesService } = useRole()
  return (
    <Chart
      title="From commit to delivery"
      figure={last == null ? undefined : `${countText(last)} ms`}
      note={seesService ? <OldestDue /> : undefined}
      query={latency}
      seriesFrom={(data) => seriesOf(data, (key) => (key === 'p50' ? 'median' : '95th percentile'))}
      empty="Nothing was delivered in the last hour."
      format={(value) => `${countText(value)} ms`}
    />
  )
}

function RedemptionsChart() {
  const redemptions = useHour('redemptions')
  const attempts = useHour('deliveries')
  const failed = useHour('failed_deliveries')
  const lineOf = (usage: Usage | undefined, label: string, color: string) =>
    usage ? seriesOf(usage, () => label).map((one) => ({ ...one, color })) : []
  return (
    <Chart
      title="Redemptions and delivery attempts"
      figure={redemptions.data && countText(redemptions.data.total ?? 0)}
      note={failed.data?.total ? `${countText(failed.data.total)} attempts failed` : undefined}
      query={redemptions.data?.series.length === 0 && attempts.data ? attempts : redemptions}
      seriesFrom={(data) => [
        ...(data === redemptions.data ? seriesOf(data, () => 'redemptions') : []),
        ...lineOf(attempts.data, 'attempts', '--series-3'),
        ...lineOf(failed.data, 'failed attempts', '--bad'),
      ]}
      empty="No reward was redeemed in the last hour."
    />
  )
}

interface ChartProps extends Pick<TimeChartProps, 'isStacked' | 'limit' | 'format'> {
  readonly title: string
  readonly figure?: string | undefined
  readonly note?: ReactNode
  readonly query: UseQueryResult<Usage>
  readonly seriesFrom: (usage: Usage) => ChartSeries[]
  readonly empty: string
}

function Chart({ title, figure, note, query, seriesFrom, empty, ...look }: ChartProps) {
  return (
    <Card
      title={title}
      aside={
        <>
          {note && <span className="dim small">{note}</span>}
          {figure && <span className="big">{figure}</span>}
        </>
      }
    >
      <Loaded query={query} lines={5}>
        {(data) =>
          data.series.length === 0 ? (
            <p className="dim">{empty}</p>
          ) : (
            <TimeChart
              times={timesOf(data)}
              series={seriesFrom(data)}
              label={`${title}: ${figure ?? ''}`}
              {...look}
            />
          )
        }
      </Loaded>
    </Card>
  )
}
