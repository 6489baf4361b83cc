import { useQueries } from '@tanstack/react-query'
import { useParams, useSearch } from '@tanstack/react-router'
import { api, read } from '../../api/client.ts'
import { apiQuery, useApi } from '../../api/query.ts'
import { cliText } from '../../api/request-text.ts'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { Id } from '../../components/id.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Skeleton } from '../../components/notices.tsx'
import { plural } from '../../components/number-text.ts'
import { PageHeader } from '../../components/page-header.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import type { Event, WholeDelivery } from '../../delivery/event.ts'
import { kindText } from '../../delivery/event-kind.ts'
import { IfRole } from '../../session/session.tsx'
import '../../delivery/delivery.css'
import './events.css'
import { SentRequest } from './sent-request.tsx'
import { Timeline } from './timeline.tsx'

const POLL_MS = 3_000
const CATCH_UP_MS = 500

export function EventPage() {
  const { projectId, eventId } = useParams({ from: '/projects/$projectId/events/$eventId' })
  const path = { project_id: projectId, event_id: eventId }
  const event = useApi('/projects/{project_id}/events/{event_id}', { path }, { pollMs: POLL_MS })
  return (
    <Loaded query={event} lines={8}>
      {(data) => <EventView projectId={projectId} event={data} />}
    </Loaded>
  )
}

/** Deliveries of the event with their attempts. An event has one per destination, so there are few. */
function useDeliveries(projectId: string, eventId: string): readonly WholeDelivery[] | undefined {
  const list = useApi(
    '/projects/{project_id}/deliveries',
    { path: { project_id: projectId }, query: { event: eventId, limit: 100 } as never },
    { pollMs: POLL_MS },
  )
  const heads = list.data?.data ?? []
  const whole = useQueries({
    queries: heads.map(({ id, attempts_made, status }) => ({
      ...apiQuery('/projects/{project_id}/deliveries/{delivery_id}', {
        path: { project_id: projectId, delivery_id: id },
      }),
      // Read again only while the list shows another attempt or status.
      refetchInterval: ({ state: { data } }: { state: { data: WholeDelivery | undefined } }) =>
        data?.attempts_made === attempts_made && data.status === status ? false : CATCH_UP_MS,
    })),
  })
  if (list.data === undefined || whole.some(({ data }) => data === undefined)) return undefined
  return whole.map(({ data }) => data as WholeDelivery)
}

/** "Mug, redeemed by Ada Nowak". Each name is isolated, because marks in it could reverse the rest of the title. */
function Title({ event: { type, data } }: { event: Event }) {
  const { reward, customer } = (data ?? {}) as Record<string, { name?: unknown } | null | undefined>
  if (typeof reward?.name !== 'string' || typeof customer?.name !== 'string') return kindText(type)
  return (
    <>
      <bdi>{reward.name}</bdi>, redeemed by <bdi>{customer.name}</bdi>
    </>
  )
}

function EventView({ projectId, event }: { projectId: string; event: Event }) {
  const deliveries = useDeliveries(projectId, event.id)
  const { delivery: chosen } = useSearch({ from: '/projects/$projectId/events/$eventId' })
  const shown = deliveries?.find(({ id }) => id === chosen) ?? deliveries?.[0]
  return (
    <>
      <PageHeader
        title={<Title event={event} />}
        tabTitle={kindText(event.type)}
        subtitle={
          <>
            <Id value={event.id} /> · <RelativeTime at={event.created_at} />
          </>
        }
        cli={cliText(`event show ${event.id}`, { project: projectId })}
        request={{ path: `/projects/${projectId}/events/${event.id}` }}
        actions={
          <IfRole least="editor">
            <Replay projectId={projectId} event={event} count={deliveries?.length ?? 0} />
          </IfRole>
        }
      />
      <div className="event-columns">
        <Card title="Timeline">
          {deliveries ? (
            <Timeline projectId={projectId} event={event} deliveries={deliveries} />
          ) : (
            <Skeleton lines={5} />
          )}
        </Card>
        {deliveries && (
          <Card title="What is sent">
            {shown ? (
              <SentRequest projectId={projectId} event={event} deliveries={deliveries} shown={shown} />
            ) : (
              <p className="dim">Nothing: no destination existed when the event was written.</p>
            )}
          </Card>
        )}
      </div>
    </>
  )
}

function Replay({ projectId, event, count }: { projectId: string; event: Event; count: number }) {
  if (count === 0) return null
  const path = { project_id: projectId, event_id: event.id }
  return (
    <ConfirmDialog
      trigger={<Button>Replay</Button>}
      title="Send this event again?"
      consequence={
        <>
          <p>
            {plural(count, 'destination gets', 'destinations get')} it once more, whether or not it was
            delivered, with the same ids and bytes.
          </p>
          <p className="dim">
            Receivers that store the ids of deliveries ignore what they already processed.
          </p>
        </>
      }
      confirmLabel="Send again"
      onConfirm={() =>
        read(api.POST('/projects/{project_id}/events/{event_id}/replay', { params: { path } }))
      }
      receipt={({ reopened, held, unchanged }) => (
        <p>
          {plural(reopened, 'delivery is', 'deliveries are')} due now
          {held > 0 && `, ${held} of them held until their destination is enabled`}
          {unchanged > 0 && `, ${unchanged} were due already`}.
        </p>
      )}
    />
  )
}
