import { Link } from '@tanstack/react-router'
import { CodeBlock } from '../../components/code-block.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { Tabs } from '../../components/tabs.tsx'
import type { Event, WholeDelivery } from '../../delivery/event.ts'
import { JsonTree } from '../../delivery/json-tree.tsx'
import { headersOf, signedCurl } from '../../delivery/signed-curl.ts'
import { useDestinationNames } from '../../delivery/use-destination-names.ts'
import { useDestinations } from '../../delivery/use-destinations.ts'
import { useDescriptions } from './event-schema.ts'

interface SentRequestProps {
  readonly projectId: string
  readonly event: Pick<Event, 'id' | 'kind' | 'type' | 'version'>
  readonly deliveries: readonly WholeDelivery[]
  readonly shown: WholeDelivery
}

/** The request to one destination: headers and body, as a tree with the descriptions of its schema, or as sent. */
export function SentRequest({ projectId, event, deliveries, shown }: SentRequestProps) {
  const describe = useDescriptions(event)
  const nameOf = useDestinationNames(projectId)
  const destination = useDestinations(projectId).data?.find(({ id }) => id === shown.destination_id)
  // Extra headers of a distribution. Their values are masked.
  const extra = destination?.object === 'distribution' ? destination.headers : {}
  const body = JSON.stringify(shown.payload)
  return (
    <div className="stack">
      {deliveries.length > 1 && (
        <nav className="row" aria-label="Destination">
          {deliveries.map(({ id, destination_id, destination_url }) => (
            <Link
              key={id}
              to="/projects/$projectId/events/$eventId"
              params={{ projectId, eventId: event.id }}
              search={{ delivery: id }}
              replace
              className={id === shown.id ? 'chip chosen' : 'chip'}
              aria-current={id === shown.id}
            >
              <bdi>{nameOf(destination_id, destination_url)}</bdi>
              {destination_id.startsWith('distr_') && ' (distribution)'}
            </Link>
          ))}
        </nav>
      )}
      <pre className="request-head">
        {`POST ${shown.destination_url ?? '(deleted)'}\n`}
        {[...headersOf(event, shown), ...Object.entries(extra)].map(([name, value]) => (
          <span key={name}>
            <span className="dim">{name}:</span> {value}
            {'\n'}
          </span>
        ))}
      </pre>
      <Tabs
        label="Body"
        tabs={[
          { id: 'tree', title: 'Body', content: <JsonTree value={shown.payload} describe={describe} /> },
          { id: 'raw', title: 'Raw', content: <CodeBlock text={body} /> },
        ]}
      />
      <div className="row">
        <CopyButton text={signedCurl(event, shown, body)} label="Copy as signed curl" />
        <span className="dim small">Signs when you run it, with the secret in $WEBHOOK_SECRET.</span>
      </div>
    </div>
  )
}
