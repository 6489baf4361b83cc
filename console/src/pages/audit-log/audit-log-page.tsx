import './audit-log.css'
import { Link } from '@tanstack/react-router'
import { api, read, type Schemas } from '../../api/client.ts'
import { useApi } from '../../api/query.ts'
import { cliText } from '../../api/request-text.ts'
import { actorText, VIA } from '../../audit/actor.ts'
import { Address } from '../../components/address.tsx'
import { Card } from '../../components/card.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { ChoiceFilter, FilterBar, TextFilter } from '../../components/filter-bar.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { PAGE_SIZE } from '../../components/pager.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { useProjectId } from '../../routing/project-route.tsx'
import { useSearchParams } from '../../routing/search-params.ts'
import { useRole } from '../../session/session.tsx'
import { ChangeCell } from './change-cell.tsx'
import { type EntryPage, ExportButton } from './export-button.tsx'
import { FilterLink } from './filter-link.tsx'
import { Subject } from './subject.tsx'

type Entry = Schemas['AuditEntry']

const VIA_TITLES: Readonly<Record<Entry['via'], string>> = {
  session: 'From a browser that is signed in',
  token: 'With the credential of an operator or an API key',
  local: 'By the service itself, or by the command line on its machine',
}
const FILTERS = ['from', 'to', 'action', 'actor', 'subject', 'of'] as const
const MAX_PAGE = 100

function Who(entry: Entry) {
  const { actor } = entry
  if (actor.type === 'system') return <span className="dim">{actorText(entry)}</span>
  return (
    <FilterLink name="actor" value={actor.id} title={`${actor.type.replace('_', ' ')} ${actor.id}`}>
      <bdi className="word">{actorText(entry)}</bdi>
    </FilterLink>
  )
}

const COLUMNS: readonly Column<Entry>[] = [
  { header: 'When', cell: ({ at }) => <RelativeTime at={at} /> },
  { header: 'Who', cell: Who },
  {
    header: 'What',
    cell: ({ action }) => (
      <FilterLink name="action" value={action}>
        <span className="nowrap">{action}</span>
      </FilterLink>
    ),
  },
  { header: 'On', cell: (entry) => <Subject entry={entry} /> },
  { header: 'Before → after', cell: (entry) => <ChangeCell entry={entry} /> },
  {
    header: 'From',
    cell: ({ address, via }) => (
      <>
        {address && <Address value={address} />}{' '}
        <span className="dim small" title={VIA_TITLES[via]}>
          {VIA[via]}
        </span>
      </>
    ),
  },
]

/** Changes: who, what, when, from where and through what. */
export function AuditLogPage() {
  const projectId = useProjectId()
  const { seesService } = useRole()
  const [{ of, page: _, cursor, ...search }] = useSearchParams()
  const isService = seesService && of === 'service'
  const { from, to, action, actor, subject } = search
  const filter = { from, to, action, actor, subject }
  const path = isService ? '/audit-log' : `/projects/${projectId}/audit-log`

  const ofProject = (query: object) => ({ path: { project_id: projectId }, query })
  const query = { ...filter, cursor, limit: PAGE_SIZE }
  const project = useApi('/projects/{project_id}/audit-log', ofProject(query), { enabled: !isService })
  const service = useApi('/audit-log', { query }, { enabled: isService })

  function readPage(next?: string): Promise<EntryPage> {
    const params = { ...ofProject({ ...filter, cursor: next, limit: MAX_PAGE }) }
    return isService
      ? read(api.GET('/audit-log', { params: { query: params.query } }))
      : read(api.GET('/projects/{project_id}/audit-log', { params }))
  }

  const scope = isService ? 'audit list --all-projects' : `audit list --project ${projectId}`
  return (
    <>
      <PageHeader
        title="Audit log"
        subtitle={isService ? 'Changes of the whole service.' : 'Changes of this project.'}
        cli={cliText(scope, filter)}
        request={{ path, query: filter }}
        actions={<ExportButton readPage={readPage} />}
      />
      <FilterBar names={FILTERS}>
        {seesService && (
          <ChoiceFilter name="of" label="Of" choices={[['service', 'whole service']]} all="this project" />
        )}
        <TextFilter name="from" label="From" type="datetime-local" />
        <TextFilter name="to" label="To" type="datetime-local" />
        <TextFilter name="action" label="Action" placeholder="api_key.blocked" />
        <TextFilter name="actor" label="Id of the actor" />
        <TextFilter name="subject" label="Id of the subject" />
      </FilterBar>
      <Card flush>
        <DataTable
          label="Audit log"
          query={isService ? service : project}
          columns={COLUMNS}
          rowKey={({ id }) => id}
          empty={{
            sentence: 'No change matches.',
            command: cliText(scope),
            action: (
              <Link to="." search={{} as never}>
                Show all changes of the project
              </Link>
            ),
          }}
        />
      </Card>
    </>
  )
}
