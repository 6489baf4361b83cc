import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useApi } from '../../api/query.ts'
import { cliText } from '../../api/request-text.ts'
import { Button } from '../../components/button.tsx'
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
import { useProjectId } from '../../routing/project-route.tsx'
import { type SearchParams, useSearchParams } from '../../routing/search-params.ts'
import { useRole } from '../../session/session.tsx'
import '../../delivery/delivery.css'
import { canRecover, type Delivery, DeliveryState } from '../../delivery/delivery-state.tsx'
import { destinationNames } from '../../delivery/destination-names.ts'
import { LastAttempt } from '../../delivery/last-attempt.tsx'
import { NextAttempt } from '../../delivery/next-attempt.tsx'
import { RecoverDialog } from '../../delivery/recover-dialog.tsx'
import { useDestinationNames } from '../../delivery/use-destination-names.ts'
import { useDestinations } from '../../delivery/use-destinations.ts'
import { RetryMany } from './retry-many.tsx'

const POLL_MS = 5_000
const FILTERS = ['state', 'destination', 'http_status', 'error', 'event', 'from', 'to']
const STATES = [
  ['failing', 'Failing'],
  ['exhausted', 'Exhausted'],
  ['held', 'Held'],
  ['pending', 'Pending'],
  ['delivered', 'Delivered'],
  ['cancelled', 'Cancelled'],
] as const

/** `failing` is part of `pending`, and has a parameter of its own in the API. */
function queryOf({ state, destination, http_status, error, event, from, to }: SearchParams) {
  const statuses = state === 'failing' ? { state: 'failing' as const } : { status: state }
  const isCode = /^[1-5]\d\d$/.test(http_status ?? '')
  return {
    ...statuses,
    destination,
    http_status: isCode ? Number(http_status) : undefined,
    error,
    event,
    from,
    to,
  }
}

function commandOf(projectId: string, query: ReturnType<typeof queryOf>): string {
  const { state, http_status, ...flags } = { state: undefined, ...query }
  const failing = state === 'failing' ? 'delivery list --failing' : 'delivery list'
  return cliText(failing, { ...flags, 'http-status': http_status, project: projectId })
}

export function DeliveriesPage() {
  const projectId = useProjectId()
  const [search] = useSearchParams()
  const { can } = useRole()
  const nameOf = useDestinationNames(projectId)
  const query = queryOf(search)
  const page = { limit: PAGE_SIZE, cursor: search.cursor }
  const path = `/projects/${projectId}/deliveries`
  const list = useApi(
    '/projects/{project_id}/deliveries',
    { path: { project_id: projectId }, query: { ...query, ...page } as never },
    { pollMs: POLL_MS },
  )
  const rows = list.data?.data ?? []
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const selected = rows.filter(({ id }) => chosen.has(id)).map(({ id }) => id)
  const toggle = (ids: readonly string[], isOn: boolean) => {
    const next = new Set(chosen)
    for (const id of ids) isOn ? next.add(id) : next.delete(id)
    setChosen(next)
  }
  const recoverable = rows.filter(canRecover).map(({ id }) => id)
  const isFiltered = useIsFiltered(FILTERS)
  return (
    <>
      <PageHeader
        title="Deliveries"
        subtitle="Every event to every destination, newest first."
        cli={commandOf(projectId, query)}
        request={{ path, query }}
        actions={can('editor') && <RecoverDialog projectId={projectId} />}
      />
      <Filters projectId={projectId} />
      <Card
        flush
        {...(can('editor') &&
          recoverable.length > 0 && {
            aside: (
              <>
                <Button
                  look="quiet"
                  onPress={() => toggle(recoverable, selected.length < recoverable.length)}
                >
                  {selected.length < recoverable.length
                    ? `Select the ${recoverable.length} that failed on this page`
                    : 'Select none'}
                </Button>
                <RetryMany projectId={projectId} ids={selected} onDone={() => setChosen(new Set())} />
              </>
            ),
          })}
      >
        <DataTable
          label="Deliveries"
          query={list}
          columns={columnsOf({ projectId, nameOf, canSelect: can('editor'), chosen, toggle })}
          rowKey={({ id }) => id}
          empty={
            isFiltered
              ? {
                  sentence: 'No delivery matches these filters.',
                  command: commandOf(projectId, query),
                  action: <ClearFilters names={FILTERS} />,
                }
              : {
                  sentence:
                    'Nothing was sent yet. Each redemption is sent to every destination of the project.',
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

function Filters({ projectId }: { projectId: string }) {
  const choices = [...destinationNames(useDestinations(projectId).data ?? [])]
  return (
    <div className="compact-filters">
      <FilterBar names={FILTERS}>
        <ChoiceFilter name="state" label="State" choices={STATES} />
        <ChoiceFilter name="destination" label="Destination" choices={choices} />
        <TextFilter name="http_status" label="Status code" placeholder="503" />
        <TextFilter name="error" label="Error contains" placeholder="certificate" />
        <TextFilter name="from" label="From" type="datetime-local" />
        <TextFilter name="to" label="To" type="datetime-local" />
      </FilterBar>
    </div>
  )
}

interface Selection {
  readonly projectId: string
  readonly nameOf: (id: string, url: string | null) => string
  readonly canSelect: boolean
  readonly chosen: ReadonlySet<string>
  readonly toggle: (ids: readonly string[], isOn: boolean) => void
}

function columnsOf({ projectId, nameOf, canSelect, chosen, toggle }: Selection): readonly Column<Delivery>[] {
  const select: Column<Delivery> = {
    header: 'Select',
    isAction: true,
    cell: (row) =>
      canRecover(row) && (
        <input
          type="checkbox"
          aria-label={`Select ${row.id}`}
          checked={chosen.has(row.id)}
          onChange={({ target }) => toggle([row.id], target.checked)}
        />
      ),
  }
  return [
    ...(canSelect ? [select] : []),
    {
      header: 'Destination',
      cell: ({ destination_id, destination_url }) => (
        <Link
          to="/projects/$projectId/destinations/$destinationId"
          params={{ projectId, destinationId: destination_id }}
        >
          <bdi title={destination_url ?? undefined}>{nameOf(destination_id, destination_url)}</bdi>
        </Link>
      ),
    },
    { header: 'State', cell: (row) => <DeliveryState delivery={row} /> },
    { header: 'Last answer', cell: ({ last_attempt }) => <LastAttempt attempt={last_attempt} /> },
    { header: 'Attempts', align: 'end', cell: ({ attempts_made }) => attempts_made },
    { header: 'Next', cell: ({ next_attempt_at }) => <NextAttempt at={next_attempt_at} /> },
    {
      header: 'Event',
      cell: ({ id, event_id, event_kind }) => (
        <Link
          to="/projects/$projectId/events/$eventId"
          params={{ projectId, eventId: event_id }}
          search={{ delivery: id }}
          className="mono"
          title={`${event_kind ?? 'removed'}\n${event_id}`}
        >
          {event_id.slice(0, 14)}…
        </Link>
      ),
    },
    { header: 'Created', cell: ({ created_at }) => <RelativeTime at={created_at} /> },
  ]
}
