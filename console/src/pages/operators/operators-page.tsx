import './operators.css'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Schemas } from '../../api/client.ts'
import { useApi } from '../../api/query.ts'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { Id } from '../../components/id.tsx'
import { EmptyState } from '../../components/notices.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { PAGE_SIZE } from '../../components/pager.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { SecretOnce } from '../../components/secret-once.tsx'
import { useProjects } from '../../frame/project-switcher.tsx'
import { useSearchParams } from '../../routing/search-params.ts'
import { useRole, useSession } from '../../session/session.tsx'
import { OperatorActions } from './operator-actions.tsx'
import { CreateOperator, type OperatorWithToken } from './operator-form.tsx'

type Operator = Schemas['Operator']

/** Operators are for admins. */
export function OperatorsPage() {
  return useRole().can('admin') ? (
    <Operators />
  ) : (
    <>
      <PageHeader title="Operators" />
      <section className="card flush">
        <EmptyState
          sentence="Only admins see operators. Your own sessions have their page."
          action={<Link to="/sessions">Your sessions</Link>}
        />
      </section>
    </>
  )
}

function Operators() {
  const [{ page }] = useSearchParams()
  const own = useSession().operator.id
  const projects = useProjects().data?.data ?? []
  const nameOf = (id: string) => projects.find((project) => project.id === id)?.name ?? id
  const query = { limit: PAGE_SIZE, ...(page && { page: Number(page) }) }
  const operators = useApi('/operators', { query }, { pollMs: 15_000 })
  const [shown, setShown] = useState<OperatorWithToken | null>(null)
  const columns: readonly Column<Operator>[] = [
    {
      header: 'Name',
      cell: ({ id, name }) => (
        <>
          <strong>{name}</strong> {id === own && <span className="dim">you</span>}
        </>
      ),
    },
    { header: 'Id', cell: ({ id }) => <Id value={id} short /> },
    { header: 'Role', cell: ({ role }) => role },
    {
      header: 'Projects',
      cell: ({ projects: ids }) =>
        ids === null ? <span className="dim">all</span> : ids.map(nameOf).join(', ') || 'none',
    },
    { header: 'Last seen', cell: ({ last_used_at }) => <RelativeTime at={last_used_at} /> },
    {
      header: 'Actions',
      isAction: true,
      align: 'end',
      cell: (operator) => (
        <OperatorActions operator={operator} isOwn={operator.id === own} onToken={setShown} />
      ),
    },
  ]
  const create = <CreateOperator onToken={setShown} />
  return (
    <>
      <PageHeader
        title="Operators"
        subtitle="People and programs that manage this service."
        cli="jeton operator list"
        request={{ path: '/operators' }}
        actions={create}
      />
      <Card flush>
        <DataTable
          label="Operators"
          query={operators}
          columns={columns}
          rowKey={({ id }) => id}
          empty={{
            sentence: 'There is no operator on this page.',
            command: 'jeton operator create --name <name> --role viewer',
            action: <Button onPress={() => history.back()}>Back</Button>,
          }}
        />
      </Card>
      <TokenOnce operator={shown} onClose={() => setShown(null)} />
    </>
  )
}

const TokenOnce = ({ operator, onClose }: { operator: OperatorWithToken | null; onClose: () => void }) => (
  <SecretOnce
    title={operator ? `Token of ${operator.name}` : ''}
    secrets={
      operator && [
        ['X-Management-Id', operator.id],
        ['X-Management-Token', operator.token],
      ]
    }
    onClose={onClose}
  >
    <p className="dim">
      Sign in here with both, or on the command line with <code>jeton login</code>.
    </p>
  </SecretOnce>
)
