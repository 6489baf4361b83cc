import { useState } from 'react'
import { useApi, useChange } from '../../api/query.ts'
import { cliText } from '../../api/request-text.ts'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { ErrorState, Skeleton } from '../../components/notices.tsx'
import { StateBadge } from '../../components/state-badge.tsx'
import { JsonTree } from '../../delivery/json-tree.tsx'
import { headersOf } from '../../delivery/signed-curl.ts'
import '../../delivery/delivery.css'
import type { DestinationProps } from './destination-api.ts'
import { callVerb, kindOf } from './destination-api.ts'

const WAIT_MS = 12_000

interface Attempt {
  readonly at: string
  readonly duration_ms: number
  readonly status: number | null
  readonly response_body: string | null
  readonly error: string | null
}

/** Sends a test event and shows the request beside the answer. */
export function SendTest({ projectId, destination: { id, active } }: DestinationProps) {
  const test = useChange((_: undefined) =>
    callVerb<{ id: string; attempt: Attempt | null }>('test', { projectId, id, query: { wait_ms: WAIT_MS } }),
  )
  const [isShown, setShown] = useState(false)
  return (
    <Card
      title="Test"
      aside={
        <>
          <CopyButton
            look="quiet"
            label="Copy as CLI"
            text={cliText(`${kindOf(id)} test ${id}`, { project: projectId })}
          />
          <Button
            isDisabled={!active}
            isPending={test.isPending}
            onPress={() => {
              setShown(true)
              test.mutate(undefined)
            }}
          >
            Send a test
          </Button>
        </>
      }
    >
      {!isShown && (
        <p className="dim">
          {active
            ? 'Sends one event of the type webhook.test, signed like every delivery.'
            : 'Enable the destination to send a test.'}
        </p>
      )}
      {test.error && <ErrorState error={test.error} />}
      {test.isPending && <Skeleton lines={3} />}
      {test.data && (
        <div className="columns">
          <Request projectId={projectId} deliveryId={test.data.id} />
          <Answer attempt={test.data.attempt} />
        </div>
      )}
    </Card>
  )
}

function Request({ projectId, deliveryId }: { projectId: string; deliveryId: string }) {
  const path = { project_id: projectId, delivery_id: deliveryId }
  const { data: delivery } = useApi('/projects/{project_id}/deliveries/{delivery_id}', { path })
  if (!delivery) return <Skeleton lines={5} />
  const event = { kind: 'webhook.test', version: '2024-01-01' }
  return (
    <section className="stack tight">
      <h3>Request</h3>
      <pre className="request-head">
        {`POST ${delivery.destination_url}\n${headersOf(event, delivery)
          .map(([name, value]) => `${name}: ${value}`)
          .join('\n')}`}
      </pre>
      <JsonTree value={delivery.payload} describe={() => undefined} />
    </section>
  )
}

const Answer = ({ attempt }: { attempt: Attempt | null }) => (
  <section className="stack tight">
    <h3>Answer</h3>
    {attempt ? (
      <>
        <p>
          <StateBadge tone={attempt.error === null ? 'ok' : 'bad'}>
            {attempt.status ?? 'no answer'}
          </StateBadge>{' '}
          after {attempt.duration_ms} ms
        </p>
        {attempt.error !== null && <bdi>{attempt.error}</bdi>}
        {attempt.response_body && <pre className="quoted">{attempt.response_body}</pre>}
      </>
    ) : (
      <p className="tone-warn">No attempt within {WAIT_MS / 1000} s. Is a worker running?</p>
    )}
  </section>
)
