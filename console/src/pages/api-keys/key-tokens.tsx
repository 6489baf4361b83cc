import { Link } from '@tanstack/react-router'
import type { Schemas } from '../../api/client.ts'
import { useApi } from '../../api/query.ts'
import { Card } from '../../components/card.tsx'
import { Rows } from '../../components/data-table.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { tokenColumns } from '../../components/token-columns.tsx'
import { useRole } from '../../session/session.tsx'

const POLL_MS = 10_000
const MAX_SHOWN = 5

/** The newest active tokens of a key. */
export function KeyTokens({ apiKey: { id, project_id } }: { apiKey: Schemas['ApiKey'] }) {
  const { can } = useRole()
  const tokens = useApi(
    '/projects/{project_id}/tokens',
    { path: { project_id }, query: { key: id, limit: MAX_SHOWN } },
    { pollMs: POLL_MS },
  )
  return (
    <Card
      title="Newest tokens"
      flush
      aside={
        <Link
          to="/projects/$projectId/tokens"
          params={{ projectId: project_id }}
          search={{ key: id } as never}
        >
          All active tokens
        </Link>
      }
    >
      <Loaded query={tokens}>
        {({ data }) =>
          data.length === 0 ? (
            <p className="dim padded">No token of this key is active.</p>
          ) : (
            <Rows
              label="Newest tokens"
              rows={data}
              columns={tokenColumns(can('editor'))}
              rowKey={(token) => token.id}
            />
          )
        }
      </Loaded>
    </Card>
  )
}
