import { Link } from '@tanstack/react-router'
import { type EntryOf, useApi } from '../../api/query.ts'
import { cliText } from '../../api/request-text.ts'
import { Card } from '../../components/card.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { countText } from '../../components/number-text.ts'
import { PAGE_SIZE } from '../../components/pager.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { StateBadge } from '../../components/state-badge.tsx'
import { DeliveryState } from '../../delivery/delivery-state.tsx'
import { useDestinationNames } from '../../delivery/use-destination-names.ts'
import { useSearchParams } from '../../routing/search-params.ts'
import type { CustomerProps } from './transactions.ts'

type Redemption = EntryOf<'/projects/{project_id}/customers/{customer_id}/redemptions'>

const POLL_MS = 5_000

/** Rewards that she redeemed, and whether every receiver got the event: "did she get it?" */
export function Redemptions({ projectId, customerId }: CustomerProps) {
  const [{ cursor }] = useSearchParams()
  const list = useApi(
    '/projects/{project_id}/customers/{customer_id}/redemptions',
    {
      path: { project_id: projectId, customer_id: customerId },
      query: { limit: PAGE_SIZE, ...(cursor && { cursor }) },
    },
    { pollMs: POLL_MS },
  )
  return (
    <Card flush title="Redemptions">
      <DataTable
        label="Redemptions"
        query={list}
        columns={columnsOf(projectId)}
        rowKey={({ id }) => id}
        empty={{
          sentence: 'Nothing was redeemed yet.',
          command: cliText('trigger redemption', { project: projectId }),
        }}
      />
    </Card>
  )
}

const columnsOf = (projectId: string): readonly Column<Redemption>[] => [
  {
    header: 'Reward',
    cell: ({ reward_name, event_id, event_state }) =>
      event_state === 'removed' ? (
        <bdi>{reward_name ?? 'deleted reward'}</bdi>
      ) : (
        <Link to="/projects/$projectId/events/$eventId" params={{ projectId, eventId: event_id }}>
          <bdi>{reward_name ?? 'deleted reward'}</bdi>
        </Link>
      ),
  },
  { header: 'Points', align: 'end', cell: ({ points }) => countText(points) },
  { header: 'Did it arrive?', cell: (row) => <Arrival redemption={row} /> },
  { header: 'Where', cell: (row) => <Places redemption={row} projectId={projectId} /> },
  { header: 'Card', cell: ({ card }) => <span className="mono word">{card}</span> },
  { header: 'When', cell: ({ created_at }) => <RelativeTime at={created_at} /> },
]

/** The one answer for all destinations. */
function Arrival({ redemption: { event_state, deliveries } }: { redemption: Redemption }) {
  const counted = deliveries.filter(({ status }) => status !== 'cancelled')
  const arrived = counted.filter(({ status }) => status === 'delivered').length
  if (event_state === 'removed') return <span className="dim">too old to say</span>
  if (event_state === 'waiting') return <StateBadge tone="neutral">waits for a worker</StateBadge>
  if (counted.length === 0) return <span className="dim">no destination</span>
  if (arrived === counted.length) return <StateBadge tone="ok">yes</StateBadge>
  const isOver = counted.some(({ status }) => status === 'exhausted')
  return (
    <StateBadge tone={isOver ? 'bad' : 'warn'}>
      {arrived === 0 ? (isOver ? 'no' : 'not yet') : `${arrived} of ${counted.length}`}
    </StateBadge>
  )
}

function Places({ redemption, projectId }: { redemption: Redemption; projectId: string }) {
  const nameOf = useDestinationNames(projectId)
  return (
    <ul className="places">
      {redemption.deliveries.map((delivery) => (
        <li key={delivery.id}>
          <Link
            to="/projects/$projectId/events/$eventId"
            params={{ projectId, eventId: redemption.event_id }}
            search={{ delivery: delivery.id }}
          >
            <bdi>{nameOf(delivery.destination_id, delivery.destination_url)}</bdi>
          </Link>{' '}
          <DeliveryState delivery={delivery} />
        </li>
      ))}
    </ul>
  )
}
