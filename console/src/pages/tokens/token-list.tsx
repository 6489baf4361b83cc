import { getRouteApi, Link } from '@tanstack/react-router'
import { useKeyNames } from '../../api/key-names.ts'
import { useApi } from '../../api/query.ts'
import { cliText } from '../../api/request-text.ts'
import { Card } from '../../components/card.tsx'
import { DataTable } from '../../components/data-table.tsx'
import { ChoiceFilter, FilterBar } from '../../components/filter-bar.tsx'
import { PAGE_SIZE } from '../../components/pager.tsx'
import { tokenColumns } from '../../components/token-columns.tsx'
import { useProjectId } from '../../routing/project-route.tsx'
import { useRole } from '../../session/session.tsx'

const route = getRouteApi('/projects/$projectId/tokens')
const POLL_MS = 10_000

/** Active tokens without their values, which only the clients have. */
export function TokenList({ keyId }: { keyId: string | undefined }) {
  const project_id = useProjectId()
  const { page } = route.useSearch()
  const { can } = useRole()
  const nameOf = useKeyNames(project_id)
  const usage = useApi('/projects/{project_id}/token-usage', { path: { project_id } })
  const tokens = useApi(
    '/projects/{project_id}/tokens',
    {
      path: { project_id },
      query: { key: keyId, limit: PAGE_SIZE, page: page === undefined ? undefined : Number(page) },
    },
    { pollMs: POLL_MS },
  )
  const choices = usage.data?.keys.map(({ key_id, name }) => [key_id, name || key_id] as const) ?? []
  return (
    <Card
      title="Active tokens"
      flush
      aside={
        <FilterBar names={['key']}>
          <ChoiceFilter name="key" label="Key" choices={choices} all="Every key" />
        </FilterBar>
      }
    >
      <DataTable
        label="Active tokens"
        query={tokens}
        columns={tokenColumns(can('editor'), nameOf)}
        rowKey={({ id }) => id}
        empty={{
          sentence: 'No token is active. Clients get one with their key, and it lives 15 minutes.',
          command: cliText('token issue', { project: project_id }),
          action: (
            <Link
              to="/projects/$projectId/api-keys"
              params={{ projectId: project_id }}
              search={{} as never}
              className="button"
            >
              API keys
            </Link>
          ),
        }}
      />
    </Card>
  )
}
