import type { Schemas } from '../../api/client.ts'
import { useApi } from '../../api/query.ts'
import { Card } from '../../components/card.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { type Column, Rows } from '../../components/data-table.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { StateBadge } from '../../components/state-badge.tsx'

type Job = Schemas['Job']

const POLL_MS = 5_000

const COLUMNS: readonly Column<Job>[] = [
  { header: 'Job', cell: ({ name }) => <span className="nowrap">{name}</span> },
  { header: 'Purpose', cell: ({ purpose }) => purpose },
  { header: 'Last run', cell: ({ last_run_at }) => <RelativeTime at={last_run_at} never="not yet" /> },
  {
    header: 'Took',
    align: 'end',
    cell: ({ last_duration_ms: ms }) => (ms === null ? '' : `${ms} ms`),
  },
  {
    header: 'State',
    cell: ({ error }) =>
      error === null ? <StateBadge tone="ok">ok</StateBadge> : <StateBadge tone="bad">{error}</StateBadge>,
  },
]

/** The jobs of the process that answers. */
export function JobsCard() {
  const jobs = useApi('/jobs', {}, { pollMs: POLL_MS })
  const host = jobs.data && `of ${jobs.data.process.host}, process ${jobs.data.process.pid}`
  return (
    <Card
      title="Background jobs"
      aside={
        <>
          <span className="dim">{host}</span>
          <CopyButton text="jeton job list" label="Copy as CLI" look="quiet" />
        </>
      }
      flush
    >
      <Loaded query={jobs} lines={6}>
        {({ data }) => (
          <Rows label="Background jobs" rows={data} columns={COLUMNS} rowKey={({ name }) => name} />
        )}
      </Loaded>
    </Card>
  )
}
