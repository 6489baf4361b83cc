import { useApi } from '../../api/query.ts'
import { Card } from '../../components/card.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { Facts } from '../../components/facts.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { countText } from '../../components/number-text.ts'
import { RelativeTime } from '../../components/relative-time.tsx'

const POLL_MS = 5_000

export function QueueCard() {
  const queue = useApi('/queue', {}, { pollMs: POLL_MS })
  return (
    <Card title="Queue" aside={<CopyButton text="jeton queue show" label="Copy as CLI" look="quiet" />}>
      <Loaded query={queue}>
        {({ due, oldest_due_at, in_flight, waiting_events }) => (
          <Facts
            facts={[
              ['Deliveries due', countText(due)],
              ['Oldest due', <RelativeTime key="oldest" at={oldest_due_at} never="none" />],
              ['In flight', countText(in_flight)],
              ['Events to be relayed', countText(waiting_events)],
            ]}
          />
        )}
      </Loaded>
    </Card>
  )
}
