import { Link } from '@tanstack/react-router'
import type { Schemas } from '../../api/client.ts'
import { useApi } from '../../api/query.ts'
import { actorText, VIA } from '../../audit/actor.ts'
import { Address } from '../../components/address.tsx'
import { Card } from '../../components/card.tsx'
import { type Column, Rows } from '../../components/data-table.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'

type Entry = Schemas['AuditEntry']

const MAX_SHOWN = 10

/** Pages say "rotate" for what the API calls "regenerate". */
const actionText = (action: string): string =>
  action === 'api_key.regenerated'
    ? 'secret rotated'
    : action.replace(/^api_key\./, '').replaceAll(/[._]/g, ' ')

const COLUMNS: readonly Column<Entry>[] = [
  { header: 'When', cell: ({ at }) => <RelativeTime at={at} /> },
  { header: 'What', cell: ({ action }) => <span title={action}>{actionText(action)}</span> },
  { header: 'Who', cell: (entry) => <bdi title={entry.actor.id}>{actorText(entry)}</bdi> },
  { header: 'Through', cell: ({ via }) => VIA[via] },
  { header: 'From', cell: ({ address }) => <Address value={address} /> },
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
