import { api, read, type Schemas } from '../../api/client.ts'
import { useApi } from '../../api/query.ts'
import { cliText } from '../../api/request-text.ts'
import { Address } from '../../components/address.tsx'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { ChoiceFilter, ClearFilters, FilterBar } from '../../components/filter-bar.tsx'
import { Id } from '../../components/id.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { PAGE_SIZE } from '../../components/pager.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { useSearchParams } from '../../routing/search-params.ts'
import { useRole, useSession } from '../../session/session.tsx'
import { useOperatorNames } from './operator-names.ts'

type Session = Schemas['Session']

/** Admins see the sessions of every operator, others their own. */
export function SessionsPage() {
  const [{ page, operator }] = useSearchParams()
  const isAdmin = useRole().can('admin')
  const { operator: own, session } = useSession()
  const current = (session as Session | null)?.id
  const names = useOperatorNames(isAdmin)
  const filter = isAdmin ? operator : undefined
  const query = { limit: PAGE_SIZE, ...(page && { page: Number(page) }), ...(filter && { operator: filter }) }
  const sessions = useApi('/sessions', { query }, { pollMs: 15_000 })
  const columns: readonly Column<Session>[] = [
    {
      header: 'Operator',
      cell: ({ id, operator_id }) => (
        <>
          {operator_id === own.id ? own.name : (names.get(operator_id) ?? operator_id)}{' '}
          {id === current && <span className="dim">this browser</span>}
        </>
      ),
    },
    { header: 'Session', cell: ({ id }) => <Id value={id} short /> },
    { header: 'Address', cell: ({ address }) => <Address value={address} /> },
    { header: 'Signed in', cell: ({ created_at }) => <RelativeTime at={created_at} /> },
    { header: 'Last used', cell: ({ last_used_at }) => <RelativeTime at={last_used_at} /> },
    { header: 'Ends', cell: ({ expires_at }) => <RelativeTime at={expires_at} /> },
    {
      header: 'End it',
      isAction: true,
      align: 'end',
      cell: ({ id }) => <EndSession id={id} isCurrent={id === current} />,
    },
  ]
  return (
    <>
      <PageHeader
        title={isAdmin ? 'Sessions' : 'Your sessions'}
        subtitle="Browsers that are signed in. A session lasts 12 hours, or 1 hour without use."
        cli={cliText('session list', { operator: filter })}
        request={{ path: '/sessions', query: { operator: filter } }}
      />
      {isAdmin && (
        <FilterBar names={['operator']}>
          <ChoiceFilter name="operator" label="Operator" choices={[...names]} all="All" />
        </FilterBar>
      )}
      <Card flush>
        <DataTable
          label="Sessions"
          query={sessions}
          columns={columns}
          rowKey={({ id }) => id}
          empty={{
            sentence: 'No browser is signed in as this operator.',
            command: cliText('session list', { operator: filter }),
            action: filter && <ClearFilters names={['operator']} />,
          }}
        />
      </Card>
    </>
  )
}

function EndSession({ id, isCurrent }: { id: string; isCurrent: boolean }) {
  const params = { path: { session_id: id } }
  return (
    <ConfirmDialog
      trigger={<Button look="quiet">End</Button>}
      title="End this session?"
      consequence={
        <p>
          {isCurrent
            ? 'This is the session of this browser: you must sign in again.'
            : 'The next request of that browser is refused, and it must sign in again.'}
        </p>
      }
      confirmLabel="End the session"
      isDangerous
      onConfirm={() => read(api.DELETE('/sessions/{session_id}', { params }))}
    />
  )
}
