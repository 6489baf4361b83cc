import { Link } from '@tanstack/react-router'
import type { Schemas } from '../../api/client.ts'
import { useKeyNames } from '../../api/key-names.ts'
import { useApi } from '../../api/query.ts'
import { cliText } from '../../api/request-text.ts'
import { Card } from '../../components/card.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { ChoiceFilter, FilterBar, TextFilter } from '../../components/filter-bar.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { useProjectId } from '../../routing/project-route.tsx'
import { useSearchParams } from '../../routing/search-params.ts'
import { sentenceText } from './sentence-text.ts'

type Refusal = Schemas['Refusal']

const POLL_MS = 5_000
/** Fewer than on other pages: this one shows more than the list. */
const SHOWN = 10

const explain = (request: string) => (current: object) => ({ ...current, request })

/** Requests that were refused in the last 24 hours. Each one leads to its reason. */
export function Refusals() {
  const project_id = useProjectId()
  const [{ from, to, of, cursor }] = useSearchParams()
  const nameOf = useKeyNames(project_id)
  const keys = useApi('/projects/{project_id}/api-keys', { path: { project_id }, query: { limit: 100 } })
  const filter = { from, to, key: of }
  const refusals = useApi(
    '/projects/{project_id}/refusals',
    { path: { project_id }, query: { ...filter, cursor, limit: SHOWN } as never },
    { pollMs: POLL_MS },
  )
  const columns: readonly Column<Refusal>[] = [
    { header: 'When', cell: ({ at }) => <RelativeTime at={at} /> },
    {
      header: 'Reason',
      cell: ({ request_id, step, steps }) => (
        <Link to="." search={explain(request_id) as never}>
          {sentenceText(steps.find(({ passed }) => !passed)?.says ?? step)}
        </Link>
      ),
    },
    {
      header: 'Request',
      cell: ({ method, path }) => (
        <code>
          {method} {path}
        </code>
      ),
    },
    { header: 'Answer', cell: ({ status, key }) => <span className="nowrap">{`${status} ${key}`}</span> },
    {
      header: 'API key',
      cell: ({ key_id }) => (key_id ? nameOf(key_id) : <span className="dim">unknown</span>),
    },
    { header: 'From', cell: ({ address }) => <span className="mono">{address}</span> },
  ]
  return (
    <Card title="Refused in the last 24 hours" flush>
      <div className="card-filters">
        <FilterBar names={['from', 'to', 'of']}>
          <ChoiceFilter
            name="of"
            label="API key"
            choices={keys.data?.data.map(({ id, name }) => [id, name] as const) ?? []}
          />
          <TextFilter name="from" label="From" type="datetime-local" />
          <TextFilter name="to" label="To" type="datetime-local" />
        </FilterBar>
      </div>
      <DataTable
        label="Refusals"
        query={refusals}
        columns={columns}
        rowKey={({ request_id }) => request_id}
        empty={{
          sentence: 'No request of this project was refused here. Repeats are sampled, so none is missing.',
          command: cliText(`refusal list --project ${project_id}`),
        }}
      />
    </Card>
  )
}
