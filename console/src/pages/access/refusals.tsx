import { Link } from '@tanstack/react-router'
import type { Schemas } from '../../api/client.ts'
import { useKeyNames, useKeys } from '../../api/key-names.ts'
import { useApi } from '../../api/query.ts'
import { cliText } from '../../api/request-text.ts'
import { Address } from '../../components/address.tsx'
import { Card } from '../../components/card.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import {
  ChoiceFilter,
  ClearFilters,
  FilterBar,
  TextFilter,
  useIsFiltered,
} from '../../components/filter-bar.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import type { Failure } from '../../refusal/fix.ts'
import { FixLink } from '../../refusal/fix-link.tsx'
import { sentenceText } from '../../refusal/sentence-text.ts'
import { useProjectId } from '../../routing/project-route.tsx'
import { useSearchParams } from '../../routing/search-params.ts'

type Refusal = Schemas['Refusal']

/** The failed check of a refusal, with what its fix depends on. */
export function useFailures(projectId: string): (refusal: Refusal) => Failure {
  const keys = useKeys(projectId).data?.data
  return ({ step, project_id, key_id, address, required_scope }) => ({
    step,
    projectId: project_id ?? projectId,
    keyId: key_id,
    address,
    requiredScope: required_scope,
    permissions: keys?.find(({ id }) => id === key_id)?.permissions ?? [],
  })
}

/** A proxy asks about a path of its own. */
export const callText = ({ method, path, original_path }: Refusal): string =>
  original_path ?? `${method} ${path}`

const POLL_MS = 5_000
/** Fewer than on other pages: this one shows more than the list. */
const SHOWN = 10

const FILTERS = ['from', 'to', 'of']

const explain = (request: string) => (current: object) => ({ ...current, request })

/** Requests that were refused in the last 24 hours. Each one leads to its reason. */
export function Refusals() {
  const project_id = useProjectId()
  const [{ from, to, of, cursor }] = useSearchParams()
  const nameOf = useKeyNames(project_id)
  const keys = useKeys(project_id)
  const failureOf = useFailures(project_id)
  const isFiltered = useIsFiltered(FILTERS)
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
      cell: (refusal) => (
        <code className="word" title={`${refusal.method} ${refusal.path}`}>
          {callText(refusal)}
        </code>
      ),
    },
    { header: 'Answer', cell: ({ status, key }) => <span className="nowrap">{`${status} ${key}`}</span> },
    {
      header: 'API key',
      cell: ({ key_id }) =>
        key_id ? <bdi className="word">{nameOf(key_id)}</bdi> : <span className="dim">unknown</span>,
    },
    { header: 'From', cell: ({ address }) => <Address value={address} /> },
    {
      header: 'Fix',
      cell: (refusal) => <FixLink failure={failureOf(refusal)} errorKey={refusal.key} />,
    },
  ]
  return (
    <Card title="Refused in the last 24 hours" flush>
      <div className="card-filters">
        <FilterBar names={FILTERS}>
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
          sentence: 'No request of this project was refused in this time.',
          command: cliText(`refusal list --project ${project_id}`),
          action: isFiltered ? <ClearFilters names={FILTERS} /> : undefined,
        }}
      />
    </Card>
  )
}
