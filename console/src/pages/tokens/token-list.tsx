import { getRouteApi, Link } from '@tanstack/react-router'
import { api, read, type Schemas } from '../../api/client.ts'
import { useKeyNames } from '../../api/key-names.ts'
import { useApi } from '../../api/query.ts'
import { cliText } from '../../api/request-text.ts'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { ChoiceFilter, FilterBar } from '../../components/filter-bar.tsx'
import { Id } from '../../components/id.tsx'
import { PAGE_SIZE } from '../../components/pager.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { durationText } from '../../components/time-text.ts'
import { useProjectId } from '../../routing/project-route.tsx'
import { useRole } from '../../session/session.tsx'

type Token = Schemas['Token']

const route = getRouteApi('/projects/$projectId/tokens')
const POLL_MS = 10_000

const columns = (nameOf: (id: string) => string, canRevoke: boolean): readonly Column<Token>[] => [
  { header: 'Token', cell: ({ id }) => <Id value={id} short /> },
  {
    header: 'Key',
    cell: ({ key_id, project_id }) => (
      <Link to="/projects/$projectId/api-keys/$keyId" params={{ projectId: project_id, keyId: key_id }}>
        {nameOf(key_id)}
      </Link>
    ),
  },
  { header: 'Scope', cell: ({ scope }) => scope },
  { header: 'Issued', cell: ({ issued_at }) => <RelativeTime at={issued_at} /> },
  { header: 'Expires in', align: 'end', cell: ({ expires_in }) => durationText(expires_in * 1000) },
  ...(canRevoke
    ? [
        {
          header: 'Actions',
          align: 'end' as const,
          isAction: true,
          cell: (token: Token) => <Revoke {...token} />,
        },
      ]
    : []),
]

const Revoke = ({ id, project_id }: Token) => (
  <ConfirmDialog
    trigger={<Button look="quiet">Revoke</Button>}
    title="Revoke this token?"
    consequence={
      <p>It stops working at once. The client that holds it gets 401 and must ask for a new one.</p>
    }
    confirmLabel="Revoke token"
    isDangerous
    onConfirm={() =>
      read(
        api.DELETE('/projects/{project_id}/tokens/{token_id}', {
          params: { path: { project_id, token_id: id } },
        }),
      )
    }
  />
)

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
        columns={columns(nameOf, can('editor'))}
        rowKey={({ id }) => id}
        empty={{
          sentence: 'No token is active. Clients get one with their key, and it lives 15 minutes.',
          command: cliText('token issue', { project: project_id }),
        }}
      />
    </Card>
  )
}
