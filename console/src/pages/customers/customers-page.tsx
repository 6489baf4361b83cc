import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useApi } from '../../api/query.ts'
import { cliText } from '../../api/request-text.ts'
import { Card } from '../../components/card.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { ClearFilters, FilterBar, TextFilter } from '../../components/filter-bar.tsx'
import { Id } from '../../components/id.tsx'
import { countText } from '../../components/number-text.ts'
import { PageHeader } from '../../components/page-header.tsx'
import { PAGE_SIZE } from '../../components/pager.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { useProjectId } from '../../routing/project-route.tsx'
import { useSearchParams } from '../../routing/search-params.ts'
import { type Customer, fieldsFor, findCustomers } from './find-customers.ts'

export function CustomersPage() {
  const projectId = useProjectId()
  const [{ who, cursor }] = useSearchParams()
  const all = useApi(
    '/projects/{project_id}/customers',
    { path: { project_id: projectId }, query: { limit: PAGE_SIZE, ...(cursor && { cursor }) } },
    { enabled: who === undefined },
  )
  const found = useQuery({
    queryKey: ['find customers', projectId, who],
    queryFn: async ({ signal }) => {
      const data = await findCustomers({ projectId, text: who!, signal })
      return { data, total: data.length, next_cursor: null }
    },
    enabled: who !== undefined,
  })
  const [field] = who === undefined ? [] : fieldsFor(who)
  const query = field && { [field]: who }
  const flag = query && { [field.replace('_', '-')]: who }
  const cli = cliText('customer search', { ...flag, project: projectId })
  return (
    <>
      <PageHeader
        title="Customers"
        subtitle="For support: who is it, what does she hold, did she get it?"
        cli={cli}
        request={{ path: `/projects/${projectId}/customers`, ...(query && { query }) }}
      />
      <FilterBar names={['who']}>
        <TextFilter name="who" label="Name, email, card, id or source id" placeholder="ada@example.com" />
      </FilterBar>
      <Card flush>
        <DataTable
          label="Customers"
          query={(who === undefined ? all : found) as typeof all}
          columns={columnsOf(projectId)}
          rowKey={({ id }) => id}
          empty={
            who === undefined
              ? {
                  sentence: 'No customer yet. They are created by your API, with their first card.',
                  command: 'jeton demo',
                }
              : {
                  sentence:
                    'No customer has this name, email, card, id or source id. The whole value is compared.',
                  command: cli,
                  action: <ClearFilters names={['who']} />,
                }
          }
        />
      </Card>
    </>
  )
}

const columnsOf = (projectId: string): readonly Column<Customer>[] => [
  {
    header: 'Name',
    cell: ({ id, name }) => (
      <Link to="/projects/$projectId/customers/$customerId" params={{ projectId, customerId: id }}>
        <bdi>{name ?? 'No name'}</bdi>
      </Link>
    ),
  },
  { header: 'Email', cell: ({ email }) => (email ? <bdi>{email}</bdi> : <span className="dim">–</span>) },
  {
    header: 'Points',
    align: 'end',
    cell: ({ loyalty }) => countText((loyalty as { points?: number } | undefined)?.points ?? 0),
  },
  {
    header: 'Source id',
    cell: ({ source_id }) =>
      source_id ? <bdi className="mono">{source_id}</bdi> : <span className="dim">–</span>,
  },
  { header: 'Id', cell: ({ id }) => <Id value={id} short /> },
  { header: 'Created', cell: ({ created_at }) => <RelativeTime at={created_at} /> },
]
