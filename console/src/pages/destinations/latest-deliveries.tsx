import { Link } from '@tanstack/react-router'
import { useApi } from '../../api/query.ts'
import { Card } from '../../components/card.tsx'
import { Rows } from '../../components/data-table.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { type Delivery, DeliveryState } from '../../delivery/delivery-state.tsx'
import { LastAttempt } from '../../delivery/last-attempt.tsx'
import { NextAttempt } from '../../delivery/next-attempt.tsx'
import '../../delivery/delivery.css'

const POLL_MS = 5_000
const COUNTED = 100
const SHOWN = 8

/** The newest deliveries, and how the last ones were answered. */
export function LatestDeliveries({ projectId, id }: { projectId: string; id: string }) {
  const list = useApi(
    '/projects/{project_id}/deliveries',
    { path: { project_id: projectId }, query: { destination: id, limit: COUNTED } as never },
    { pollMs: POLL_MS },
  )
  return (
    <Card
      flush
      title="Deliveries"
      aside={
        <Link
          to="/projects/$projectId/deliveries"
          params={{ projectId }}
          search={{ destination: id } as never}
        >
          All deliveries
        </Link>
      }
    >
      <Loaded query={list}>
        {({ data }) =>
          data.length === 0 ? (
            <p className="empty">Nothing was sent here yet.</p>
          ) : (
            <>
              <Answers deliveries={data} />
              <Rows
                label="Newest deliveries"
                rows={data.slice(0, SHOWN)}
                rowKey={(row) => row.id}
                columns={[
                  { header: 'State', cell: (row) => <DeliveryState delivery={row} /> },
                  {
                    header: 'Last answer',
                    cell: ({ last_attempt }) => <LastAttempt attempt={last_attempt} />,
                  },
                  { header: 'Attempts', align: 'end', cell: ({ attempts_made }) => attempts_made },
                  {
                    header: 'Next',
                    cell: ({ next_attempt_at }) => <NextAttempt at={next_attempt_at} />,
                  },
                  { header: 'Created', cell: ({ created_at }) => <RelativeTime at={created_at} /> },
                  {
                    header: 'Event',
                    cell: (row) => (
                      <Link
                        to="/projects/$projectId/events/$eventId"
                        params={{ projectId, eventId: row.event_id }}
                        search={{ delivery: row.id }}
                        className="mono"
                      >
                        {row.event_id.slice(0, 14)}…
                      </Link>
                    ),
                  },
                ]}
              />
            </>
          )
        }
      </Loaded>
    </Card>
  )
}

/** Status codes of the last attempts: which answers this receiver gives. */
function Answers({ deliveries }: { deliveries: readonly Delivery[] }) {
  const tried = deliveries.filter(({ last_attempt }) => last_attempt !== null)
  const groups = Map.groupBy(tried, ({ last_attempt }) => String(last_attempt!.status ?? 'no answer'))
  const shown = [...groups].sort(([, a], [, b]) => b.length - a.length)
  if (tried.length === 0) return null
  return (
    <div className="answers">
      <h3>Answers to the last {tried.length === 1 ? 'delivery' : `${tried.length} deliveries`}</h3>
      <ul>
        {shown.map(([status, { length }]) => (
          <li key={status}>
            <span>{status}</span>
            <span className={/^2\d\d$/.test(status) ? 'share ok' : 'share'} aria-hidden>
              <i style={{ inlineSize: `${(100 * length) / tried.length}%` }} />
            </span>
            <span>{length}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}
