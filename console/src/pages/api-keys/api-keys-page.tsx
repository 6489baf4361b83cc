import { getRouteApi } from '@tanstack/react-router'
import { useApi } from '../../api/query.ts'
import { cliText } from '../../api/request-text.ts'
import { Card } from '../../components/card.tsx'
import { DataTable } from '../../components/data-table.tsx'
import {
  ChoiceFilter,
  ClearFilters,
  FilterBar,
  TextFilter,
  useIsFiltered,
} from '../../components/filter-bar.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { PAGE_SIZE } from '../../components/pager.tsx'
import { useMinutesAgo } from '../../components/time-range.ts'
import { useProjectId } from '../../routing/project-route.tsx'
import { choiceParam } from '../../routing/search-params.ts'
import { IfRole } from '../../session/session.tsx'
import { CreateKey } from './create-key.tsx'
import { keyColumns } from './key-columns.tsx'

const route = getRouteApi('/projects/$projectId/api-keys')
const POLL_MS = 10_000
const FILTERS = ['state', 'name', 'address']
const DAY_MINUTES = 24 * 60

export function ApiKeysPage() {
  const project_id = useProjectId()
  const { state, name, address, page } = route.useSearch()
  const filter = { state: choiceParam(state, ['active', 'blocked', 'deleted']), name, address }
  const path = { project_id }
  const keys = useApi(
    '/projects/{project_id}/api-keys',
    { path, query: { ...filter, limit: PAGE_SIZE, page: page === undefined ? undefined : Number(page) } },
    { pollMs: POLL_MS },
  )
  const calls = useApi('/projects/{project_id}/usage', {
    path,
    query: { metric: 'calls', by: 'key', step: 'hour', from: useMinutesAgo(DAY_MINUTES) },
  })
  const cli = cliText('key list', { project: project_id, ...filter })
  const isFiltered = useIsFiltered(FILTERS)
  const create = (
    <IfRole least="editor">
      <CreateKey />
    </IfRole>
  )
  return (
    <>
      <PageHeader
        title="API keys"
        subtitle="Clients exchange a key for tokens that live 15 minutes."
        cli={cli}
        request={{ path: `/projects/${project_id}/api-keys`, query: filter }}
        actions={create}
      />
      <FilterBar names={FILTERS}>
        <ChoiceFilter
          name="state"
          label="State"
          all="Active and blocked"
          choices={[
            ['active', 'Active'],
            ['blocked', 'Blocked'],
            ['deleted', 'Deleted'],
          ]}
        />
        <TextFilter name="name" label="Exact name" />
        <TextFilter name="address" label="Usable from address" placeholder="10.0.0.4" />
      </FilterBar>
      <Card flush>
        <DataTable
          label="API keys"
          query={keys}
          columns={keyColumns(calls.data)}
          rowKey={({ id }) => id}
          empty={
            isFiltered
              ? {
                  sentence: 'No API key matches these filters.',
                  command: cli,
                  action: <ClearFilters names={FILTERS} />,
                }
              : {
                  sentence: 'No API key yet. A client uses one to get tokens.',
                  command: cliText('key create', {
                    project: project_id,
                    name: 'till',
                    permissions: 'loyalties,rewards',
                  }),
                  action: create,
                }
          }
        />
      </Card>
    </>
  )
}
