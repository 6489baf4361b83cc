import { Link } from '@tanstack/react-router'
import type { Schemas } from '../../api/client.ts'
import { useApi } from '../../api/query.ts'
import { Card } from '../../components/card.tsx'
import { type Column, Rows } from '../../components/data-table.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'

type Entry = Schemas['AuditEntry']

const MAX_SHOWN = 10

const COLUMNS: readonly Column<Entry>[] = [
  { header: 'When', cell: ({ at }) => <RelativeTime at={at} /> },
  { header: 'What', cell: ({ action }) => action },
  { header: 'Who', cell: ({ actor }) => actor.id },
  { header: 'Through', cell: ({ via }) => via },
  { header: 'From', cell: ({ address }) => <span className="mono">{address}</span> },
]

/** The latest changes of a key. The audit log has the difference of each. */
export function KeyHistory({ apiKey: { id, project_id } }: { apiKey: Schemas['ApiKey'] }) {
  const entries = useApi('/projects/{project_id}/audit-log', {
    path: { project_id },
    query: { subject: id, limit: MAX_SHOWN },
  })
  return (
    <Card
      title="History"
      flush
      aside={
        <Link
          to="/projects/$projectId/audit-log"
          params={{ projectId: project_id }}
          search={{ subject: id } as never}
        >
          All changes
        </Link>
      }
    >
      <Loaded query={entries}>
        {({ data }) => (
          <Rows label="History" rows={data} columns={COLUMNS} rowKey={({ id: entry }) => entry} />
        )}
      </Loaded>
    </Card>
  )
}
