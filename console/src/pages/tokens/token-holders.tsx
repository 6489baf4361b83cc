import { useKeyNames } from '../../api/key-names.ts'
import { useApi } from '../../api/query.ts'
import { Card } from '../../components/card.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { countText } from '../../components/number-text.ts'
import { TimeChart } from '../../components/time-chart.tsx'
import { useMinutesAgo } from '../../components/time-range.ts'
import { seriesOf, timesOf } from '../../components/usage-series.ts'
import { useProjectId } from '../../routing/project-route.tsx'

const HOUR_MINUTES = 60
const POLL_MS = 30_000

/** Active tokens over the last hour, by key, against the limit. */
export function TokenHolders({ limit }: { limit: number | undefined }) {
  const project_id = useProjectId()
  const nameOf = useKeyNames(project_id)
  const query = {
    metric: 'active_tokens',
    by: 'key',
    step: 'minute',
    from: useMinutesAgo(HOUR_MINUTES),
  } as const
  const levels = useApi('/projects/{project_id}/usage', { path: { project_id }, query }, { pollMs: POLL_MS })
  return (
    <Card title="Who holds them">
      <Loaded query={levels}>
        {(usage) =>
          usage.series.length === 0 ? (
            <p className="dim">No token was active in the last hour.</p>
          ) : (
            <TimeChart
              times={timesOf(usage)}
              series={seriesOf(usage, nameOf)}
              isStacked
              {...(limit && { limit: { value: limit, label: `limit ${countText(limit)}` } })}
              label="Active tokens by key in the last hour"
            />
          )
        }
      </Loaded>
    </Card>
  )
}
