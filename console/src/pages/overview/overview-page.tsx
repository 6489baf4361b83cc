import { Card } from '../../components/card.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { plural } from '../../components/number-text.ts'
import { PageHeader } from '../../components/page-header.tsx'
import { clockTime } from '../../components/time-text.ts'
import { useAttention } from '../../frame/attention.ts'
import { useProjectId } from '../../routing/project-route.tsx'
import { useRole } from '../../session/session.tsx'
import { AttentionList } from './attention-list.tsx'
import { LastHour } from './last-hour.tsx'
import { LiveFeed } from './live-feed.tsx'

export function OverviewPage() {
  const project_id = useProjectId()
  const { seesService } = useRole()
  const attention = useAttention(project_id)
  const count = attention.data?.data.length
  return (
    <>
      <PageHeader
        title={
          count === undefined
            ? 'Overview'
            : count === 0
              ? 'Nothing needs attention'
              : `${plural(count, 'thing needs', 'things need')} attention`
        }
        tabTitle={count ? `(${count}) Overview` : 'Overview'}
        subtitle={
          attention.dataUpdatedAt > 0 ? `Checked at ${clockTime(attention.dataUpdatedAt)}.` : undefined
        }
        cli="jeton status"
        request={{ path: seesService ? '/attention' : `/projects/${project_id}/attention` }}
      />
      {count !== 0 && (
        <Card flush>
          <Loaded query={attention}>{({ data }) => <AttentionList entries={data} />}</Loaded>
        </Card>
      )}
      <LastHour />
      <LiveFeed />
    </>
  )
}
