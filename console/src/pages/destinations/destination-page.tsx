import { useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { cliText } from '../../api/request-text.ts'
import { Card } from '../../components/card.tsx'
import { Id } from '../../components/id.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { percentText } from '../../components/number-text.ts'
import { PageHeader } from '../../components/page-header.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { nameOf } from '../../delivery/destination-names.ts'
import { RecoverDialog } from '../../delivery/recover-dialog.tsx'
import type { Destination } from '../../delivery/use-destinations.ts'
import { useRole } from '../../session/session.tsx'
import { DestinationActions } from './destination-actions.tsx'
import { type DestinationProps, kindOf, useDestination } from './destination-api.ts'
import { AttemptChart, LatencyChart } from './destination-charts.tsx'
import { DestinationSettings } from './destination-settings.tsx'
import { backlogText, DestinationState } from './destination-state.tsx'
import { latencyText } from './destinations-page.tsx'
import { LatestDeliveries } from './latest-deliveries.tsx'
import { SecretCard } from './secret-card.tsx'
import { SendTest } from './send-test.tsx'
import './destinations.css'

const POLL_MS = 5_000

export function DestinationPage() {
  const { projectId, destinationId } = useParams({ from: '/projects/$projectId/destinations/$destinationId' })
  const query = useDestination(projectId, destinationId, POLL_MS)
  return (
    <Loaded query={query} lines={8}>
      {(destination) => <DestinationView projectId={projectId} destination={destination as Destination} />}
    </Loaded>
  )
}

function DestinationView({ projectId, destination }: DestinationProps) {
  const { can } = useRole()
  const { id } = destination
  const kind = kindOf(id)
  return (
    <>
      <PageHeader
        title={<bdi>{nameOf(destination)}</bdi>}
        tabTitle={nameOf(destination)}
        subtitle={
          <>
            <DestinationState destination={destination} /> {kind} <Id value={id} />
          </>
        }
        cli={cliText(`${kind} show ${id}`, { project: projectId })}
        request={{ path: `/projects/${projectId}/${kind}s/${id}` }}
        actions={can('editor') && <DestinationActions projectId={projectId} destination={destination} />}
      />
      <Health projectId={projectId} destination={destination} />
      <div className="columns">
        <Card title="Attempts per hour">
          <AttemptChart projectId={projectId} id={id} />
        </Card>
        <Card title="From event to arrival">
          <LatencyChart projectId={projectId} id={id} />
        </Card>
      </div>
      {can('editor') && <SendTest projectId={projectId} destination={destination} />}
      <LatestDeliveries projectId={projectId} id={id} />
      <div className="columns">
        <DestinationSettings projectId={projectId} destination={destination} />
        <SecretCard projectId={projectId} destination={destination} />
      </div>
    </>
  )
}

/** The figures of the last day, and what is wrong, with its remedy. */
function Health({ projectId, destination }: DestinationProps) {
  const { can } = useRole()
  const { health, disabled_reason, id } = destination
  const { success_rate_24h, p95_ms_24h, oldest_due_at, failing_since, last_error } = health
  const backlog = backlogText(destination)
  return (
    <Card>
      <dl className="figures">
        <Figure name="Success, 24 h">
          {success_rate_24h === null ? '–' : percentText(success_rate_24h)}
        </Figure>
        <Figure name="p95, 24 h">{p95_ms_24h === null ? '–' : latencyText(p95_ms_24h)}</Figure>
        <Figure name="Oldest due">
          <RelativeTime at={oldest_due_at} never="nothing" />
        </Figure>
        <Figure name="Backlog">{backlog || 'none'}</Figure>
      </dl>
      {(disabled_reason || failing_since || last_error) && (
        <div className="trouble row apart">
          <div>
            {disabled_reason && (
              <p>
                <strong>Disabled:</strong> <bdi>{disabled_reason}</bdi>
              </p>
            )}
            {failing_since && (
              <p>
                Every attempt has failed since <RelativeTime at={failing_since} />.
              </p>
            )}
            {last_error && (
              <p className="dim one-line">
                Last error: <bdi>{last_error}</bdi>
              </p>
            )}
          </div>
          {can('editor') && health.exhausted > 0 && <RecoverDialog projectId={projectId} destination={id} />}
          {can('editor') && health.exhausted === 0 && failing_since && destination.active && (
            <RecoverDialog projectId={projectId} destination={id} include="failing" />
          )}
        </div>
      )}
    </Card>
  )
}

const Figure = ({ name, children }: { name: string; children: ReactNode }) => (
  <div>
    <dt className="dim small">{name}</dt>
    <dd>{children}</dd>
  </div>
)
