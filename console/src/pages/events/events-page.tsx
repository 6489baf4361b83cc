import { Link } from '@tanstack/react-router'
import { type EntryOf, useApi } from '../../api/query.ts'
import { cliText } from '../../api/request-text.ts'
import { Card } from '../../components/card.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import {
  ChoiceFilter,
  ClearFilters,
  FilterBar,
  TextFilter,
  useIsFiltered,
} from '../../components/filter-bar.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { PAGE_SIZE } from '../../components/pager.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { StateBadge, type Tone } from '../../components/state-badge.tsx'
import { EVENT_KINDS, kindText } from '../../delivery/event-kind.ts'
import { useProjectId } from '../../routing/project-route.tsx'
import { useSearchParams } from '../../routing/search-params.ts'
import './events.css'

const POLL_MS = 5_000
const FILTERS = ['undelivered', 'kind', 'entity', 'from', 'to']

type EventHead = EntryOf<'/projects/{project_id}/events'>

export function EventsPage() {
  const projectId = useProjectId()
  const [{ undelivered, kind, entity, from, to, cursor }] = useSearchParams()
  // The API lists undelivered events by the time of their deliveries, without other filters but the time.
  const which = undelivered === 'true' ? { undelivered: true } : { kind, entity }
  const query = { ...which, from, to }
  const list = useApi(
    '/projects/{project_id}/events',
    { path: { project_id: projectId }, query: { ...query, limit: PAGE_SIZE, cursor } as never },
    { pollMs: POLL_MS },
  )
  const command = undelivered === 'true' ? 'event list --undelivered' : 'event list'
  const cli = cliText(command, { kind: which.kind, entity: which.entity, from, to, project: projectId })
  const isFiltered = useIsFiltered(FILTERS)
  return (
    <>
      <PageHeader
        title="Events"
        subtitle="Each was written in the transaction of its redemption, and is sent to every destination."
        cli={cli}
        request={{ path: `/projects/${projectId}/events`, query }}
      />
      <FilterBar names={FILTERS}>
        <ChoiceFilter
          name="undelivered"
          label="Delivered"
          all="All"
          choices={[['true', 'Not everywhere yet']]}
        />
        {undelivered === undefined && (
          <>
            <ChoiceFilter name="kind" label="Kind" choices={EVENT_KINDS} />
            <TextFilter name="entity" label="Customer" placeholder="cust_…" />
          </>
        )}
        <TextFilter name="from" label="From" type="datetime-local" />
        <TextFilter name="to" label="To" type="datetime-local" />
      </FilterBar>
      <Card flush>
        <DataTable
          label="Events"
          query={list}
          columns={columnsOf(projectId)}
          rowKey={({ id }) => id}
          empty={
            isFiltered
              ? {
                  sentence: 'No event matches these filters.',
                  command: cli,
                  action: <ClearFilters names={FILTERS} />,
                }
              : {
                  sentence: 'No event yet. Redeeming a reward writes one.',
                  command: cliText('trigger redemption', { project: projectId }),
                  action: (
                    <Link to="/projects/$projectId/destinations" params={{ projectId }} className="button">
                      Destinations
                    </Link>
                  ),
                }
          }
        />
      </Card>
    </>
  )
}

const columnsOf = (projectId: string): readonly Column<EventHead>[] => [
  {
    header: 'Event',
    cell: ({ id, type }) => (
      <Link to="/projects/$projectId/events/$eventId" params={{ projectId, eventId: id }} title={id}>
        {kindText(type)}
      </Link>
    ),
  },
  { header: 'Deliveries', cell: (event) => <Progress event={event} /> },
  {
    header: 'Customer',
    cell: ({ entity_id, kind }) =>
      kind === 'webhook.test' ? (
        <span className="dim">–</span>
      ) : (
        <Link
          to="/projects/$projectId/customers/$customerId"
          params={{ projectId, customerId: entity_id }}
          className="mono"
        >
          {entity_id.length > 18 ? `${entity_id.slice(0, 16)}…` : entity_id}
        </Link>
      ),
  },
  {
    header: 'Caused by',
    cell: ({ event_source: { api_key, channel } }) => <bdi>{api_key?.name ?? channel}</bdi>,
  },
  { header: 'When', cell: ({ created_at }) => <RelativeTime at={created_at} /> },
]

const SHOWN = [
  ['exhausted', 'bad'],
  ['failing', 'warn'],
  ['held', 'warn'],
  ['pending', 'neutral'],
  ['delivered', 'ok'],
  ['cancelled', 'neutral'],
] as const satisfies readonly (readonly [string, Tone])[]

/** How far the event got: one badge per status that some delivery has. */
function Progress({ event: { delivery_counts, waiting } }: { event: EventHead }) {
  // Failing deliveries are pending, too; each is shown once.
  const counts = { ...delivery_counts, pending: delivery_counts.pending - delivery_counts.failing }
  const some = SHOWN.filter(([state]) => counts[state] > 0)
  if (waiting) return <StateBadge tone="neutral">waits for a worker</StateBadge>
  if (some.length === 0) return <span className="dim">no destination</span>
  return (
    <span className="row">
      {some.map(([state, tone]) => (
        <StateBadge key={state} tone={tone}>
          {counts[state]} {state}
        </StateBadge>
      ))}
    </span>
  )
}
