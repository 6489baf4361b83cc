import { useParams } from '@tanstack/react-router'
import { useApi } from '../../api/query.ts'
import { cliText } from '../../api/request-text.ts'
import { Card } from '../../components/card.tsx'
import { Rows } from '../../components/data-table.tsx'
import { Id } from '../../components/id.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { EmptyState } from '../../components/notices.tsx'
import { countText } from '../../components/number-text.ts'
import { PageHeader } from '../../components/page-header.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { StateBadge } from '../../components/state-badge.tsx'
import { BalanceChart } from './balance-chart.tsx'
import './customers.css'
import type { Customer } from './find-customers.ts'
import { Ledger } from './ledger.tsx'
import { Redemptions } from './redemptions.tsx'
import type { CustomerProps } from './transactions.ts'

export function CustomerPage() {
  const { projectId, customerId } = useParams({ from: '/projects/$projectId/customers/$customerId' })
  const list = useApi('/projects/{project_id}/customers', {
    path: { project_id: projectId },
    query: { id: customerId },
  })
  const command = (verb: string) => cliText(`customer ${verb} ${customerId}`, { project: projectId })
  return (
    <Loaded query={list} lines={6}>
      {({ data: [customer] }) =>
        customer ? (
          <>
            <Header customer={customer} projectId={projectId} cli={command('redemptions')} />
            <Redemptions projectId={projectId} customerId={customerId} />
            <div className="columns">
              <Cards projectId={projectId} customerId={customerId} />
              <BalanceChart projectId={projectId} customerId={customerId} />
            </div>
            <Ledger projectId={projectId} customerId={customerId} />
          </>
        ) : (
          <>
            <PageHeader
              title="Customer"
              cli={command('cards')}
              request={{ path: `/projects/${projectId}/customers`, query: { id: customerId } }}
            />
            <EmptyState
              sentence={`No customer of this project has the id ${customerId}.`}
              command={command('cards')}
            />
          </>
        )
      }
    </Loaded>
  )
}

interface HeaderProps {
  readonly projectId: string
  readonly customer: Customer
  readonly cli: string
}

const Header = ({ projectId, customer: { id, name, email, source_id, created_at }, cli }: HeaderProps) => (
  <PageHeader
    title={<bdi>{name ?? 'Customer without a name'}</bdi>}
    tabTitle="Customer"
    subtitle={
      <>
        <Id value={id} />
        {email && (
          <>
            {' · '}
            <bdi>{email}</bdi>
          </>
        )}
        {source_id && (
          <>
            {' · source id '}
            <bdi className="mono">{source_id}</bdi>
          </>
        )}
        {' · since '}
        <RelativeTime at={created_at} />
      </>
    }
    cli={cli}
    request={{ path: `/projects/${projectId}/customers/${id}/redemptions` }}
  />
)

function Cards({ projectId, customerId }: CustomerProps) {
  const cards = useApi('/projects/{project_id}/customers/{customer_id}/cards', {
    path: { project_id: projectId, customer_id: customerId },
    query: { limit: 100 },
  })
  return (
    <Card flush title="Cards">
      <Loaded query={cards}>
        {({ data }) =>
          data.length === 0 ? (
            <EmptyState sentence="No card: the customer is not a member of a loyalty campaign." />
          ) : (
            <Rows
              label="Cards"
              rows={data}
              rowKey={({ id }) => id}
              columns={[
                { header: 'Card', cell: ({ code }) => <Id value={code} /> },
                { header: 'Campaign', cell: ({ campaign }) => <bdi>{campaign}</bdi> },
                {
                  header: 'State',
                  cell: ({ active }) => (
                    <StateBadge tone={active ? 'ok' : 'neutral'}>{active ? 'active' : 'inactive'}</StateBadge>
                  ),
                },
                {
                  header: 'Balance',
                  align: 'end',
                  cell: ({ loyalty_card }) =>
                    countText((loyalty_card as { balance?: number } | undefined)?.balance ?? 0),
                },
              ]}
            />
          )
        }
      </Loaded>
    </Card>
  )
}
