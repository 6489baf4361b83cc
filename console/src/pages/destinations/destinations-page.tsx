import { Link } from '@tanstack/react-router'
import { cliText } from '../../api/request-text.ts'
import { Card } from '../../components/card.tsx'
import { type Column, Rows } from '../../components/data-table.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../components/notices.tsx'
import { percentText } from '../../components/number-text.ts'
import { PageHeader } from '../../components/page-header.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { Strip } from '../../components/strip.tsx'
import { destinationNames, targetText } from '../../delivery/destination-names.ts'
import { type Destination, useDestinations } from '../../delivery/use-destinations.ts'
import { useProjectId } from '../../routing/project-route.tsx'
import { useRole } from '../../session/session.tsx'
import { cellsOf, hoursOf, stripLabel, useHours } from './attempt-strip.ts'
import { backlogText, DestinationState } from './destination-state.tsx'
import '../../delivery/delivery.css'
import './destinations.css'

const POLL_MS = 5_000

export function DestinationsPage() {
  const projectId = useProjectId()
  const { can } = useRole()
  const { data: destinations, error, refetch } = useDestinations(projectId, POLL_MS)
  const attempts = useHours(projectId, 'deliveries')
  const failures = useHours(projectId, 'failed_deliveries')
  const add = can('editor') && (
    <Link to="/projects/$projectId/destinations/new" params={{ projectId }} className="button primary">
      Add a destination
    </Link>
  )
  return (
    <>
      <PageHeader
        title="Destinations"
        subtitle="Webhooks get the events of the project, distributions those of one campaign."
        cli={cliText('webhook list', { project: projectId })}
        request={{ path: `/projects/${projectId}/webhooks` }}
        actions={add}
      />
      <Card flush>
        {destinations === undefined ? (
          error ? (
            <ErrorState error={error} onRetry={() => void refetch()} />
          ) : (
            <Skeleton lines={6} />
          )
        ) : destinations.length === 0 ? (
          <EmptyState
            sentence="No destination yet, so events are stored and sent nowhere."
            command={cliText('webhook create', {
              'target-url': 'https://hooks.example.com/jeton',
              events: 'customer.reward_redemptions.completed',
              project: projectId,
            })}
            action={add}
          />
        ) : (
          <Rows
            label="Destinations"
            rows={destinations}
            rowKey={({ id }) => id}
            columns={columnsOf(projectId, {
              names: destinationNames(destinations),
              hours: (id) => hoursOf(id, attempts, failures),
            })}
          />
        )}
      </Card>
    </>
  )
}

interface Rest {
  readonly names: ReadonlyMap<string, string>
  readonly hours: (id: string) => ReturnType<typeof hoursOf>
}

const columnsOf = (projectId: string, { names, hours }: Rest): readonly Column<Destination>[] => [
  {
    header: 'Destination',
    cell: ({ id, name, target_url, object, description }) => (
      <div className="destination">
        <Link to="/projects/$projectId/destinations/$destinationId" params={{ projectId, destinationId: id }}>
          <bdi title={target_url}>{names.get(id)}</bdi>
        </Link>
        <span className="dim small">
          {object}
          {name && (
            <>
              {' · '}
              <bdi>{targetText(target_url)}</bdi>
            </>
          )}
          {description && (
            <>
              {' · '}
              <bdi>{description}</bdi>
            </>
          )}
        </span>
      </div>
    ),
  },
  {
    header: 'State',
    cell: (row) => (
      <div className="destination">
        <DestinationState destination={row} />
        {backlogText(row) && <span className="dim small">{backlogText(row)}</span>}
        {row.health.last_error && (
          <bdi className="one-line small" title={row.health.last_error}>
            {row.health.last_error}
          </bdi>
        )}
      </div>
    ),
  },
  {
    header: 'Last 24 hours',
    cell: ({ id }) => {
      const own = hours(id)
      return own.length === 0 ? (
        <span className="dim">nothing sent</span>
      ) : (
        <span className="hours">
          <Strip cells={cellsOf(own)} label={stripLabel(own)} />
        </span>
      )
    },
  },
  {
    header: 'Success',
    align: 'end',
    cell: ({ health: { success_rate_24h: rate } }) =>
      rate === null ? <span className="dim">–</span> : percentText(rate),
  },
  {
    header: 'p95',
    align: 'end',
    cell: ({ health: { p95_ms_24h: ms } }) =>
      ms === null ? <span className="dim">–</span> : latencyText(ms),
  },
  {
    header: 'Oldest due',
    align: 'end',
    cell: ({ health: { oldest_due_at } }) => <RelativeTime at={oldest_due_at} never="–" />,
  },
]

/** "38 ms", "2.1 s". */
export const latencyText = (ms: number): string =>
  ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`
