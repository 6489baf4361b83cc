import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { api, read } from '../../api/client.ts'
import { useChange } from '../../api/query.ts'
import { Button } from '../../components/button.tsx'
import { Id } from '../../components/id.tsx'
import { RelativeTime, useNow } from '../../components/relative-time.tsx'
import { StateBadge, type Tone } from '../../components/state-badge.tsx'
import { clockTime, durationText, exactTime } from '../../components/time-text.ts'
import type { Event, WholeDelivery } from '../../delivery/event.ts'
import { useDestinationNames } from '../../delivery/use-destination-names.ts'
import { IfRole } from '../../session/session.tsx'

interface TimelineProps {
  readonly projectId: string
  readonly event: Event
  readonly deliveries: readonly WholeDelivery[]
}

type NamedDelivery = WholeDelivery & { readonly destination: string }

interface Entry {
  readonly key: string
  /** Null for what is still to come. */
  readonly at: string | null
  readonly tone: Tone
  readonly content: ReactNode
}

/** From the commit to every attempt at every destination, oldest first, and then what comes next. */
export function Timeline({ projectId, event, deliveries }: TimelineProps) {
  const nameOf = useDestinationNames(projectId)
  const named = deliveries.map((delivery) => ({
    ...delivery,
    destination: nameOf(delivery.destination_id, delivery.destination_url),
  }))
  const attempts = named.flatMap(attemptsOf).sort((a, b) => (a.at! < b.at! ? -1 : 1))
  const next = named.flatMap((delivery) => nextOf(projectId, delivery))
  const entries = [committed(projectId, event), ...attempts, ...next]
  if (event.waiting)
    entries.push({
      key: 'waiting',
      at: null,
      tone: 'neutral',
      content: 'Waiting for a worker. Is one running?',
    })
  return (
    <ol className="timeline">
      {entries.map(({ key, at, tone, content }) => (
        <li key={key} className={at === null ? `${tone} next` : tone}>
          <div>{content}</div>
          {at !== null && (
            <time dateTime={at} title={exactTime(at)} className="dim small nowrap">
              {clockTime(at)}
            </time>
          )}
        </li>
      ))}
    </ol>
  )
}

function committed(projectId: string, event: Event): Entry {
  const { created_at, occurred_at, kind, data } = event
  const isLate = occurred_at < created_at
  const isTest = kind === 'webhook.test'
  const facts = isTest ? '' : redemptionFacts(data)
  return {
    key: 'commit',
    at: created_at,
    tone: 'ok',
    content: (
      <>
        <strong>{isTest ? 'Test event written' : 'Redemption and event committed'}</strong>
        <p className="dim small">
          {isTest ? 'Asked for by an operator.' : <bdi>{facts}One transaction.</bdi>}
          {isLate && (
            <>
              {' '}
              Reported later: it took place <RelativeTime at={occurred_at} />.
            </>
          )}
        </p>
        {!isTest && <Cause projectId={projectId} event={event} />}
      </>
    ),
  }
}

/** The customer it is about, and the call that caused it. */
function Cause({
  projectId,
  event: { entity_id, event_source, group_id },
}: {
  projectId: string
  event: Event
}) {
  return (
    <dl className="facts small">
      <div>
        <dt>Customer</dt>
        <dd>
          <Link
            to="/projects/$projectId/customers/$customerId"
            params={{ projectId, customerId: entity_id }}
            className="mono"
          >
            {entity_id}
          </Link>
        </dd>
      </div>
      {event_source.api_key && (
        <div>
          <dt>API key</dt>
          <dd>
            <bdi>{event_source.api_key.name}</bdi>
          </dd>
        </div>
      )}
      {group_id && (
        <div>
          <dt>Request</dt>
          <dd>
            <Id value={group_id} />
          </dd>
        </div>
      )}
    </dl>
  )
}

interface Redemption {
  readonly balance?: { readonly amount?: unknown } | null
  readonly reward_assignment?: {
    readonly parameters?: { readonly loyalty?: { readonly points?: unknown } } | null
  } | null
}

/** Points that were taken and left, where the event has them. */
function redemptionFacts(data: unknown): string {
  const { balance, reward_assignment } = (data ?? {}) as Redemption
  const taken = reward_assignment?.parameters?.loyalty?.points
  const left = balance?.amount
  if (typeof left !== 'number') return ''
  return typeof taken === 'number' ? `${taken} points taken, ${left} left. ` : `${left} points left. `
}

function attemptsOf({ id, attempts, destination }: NamedDelivery): Entry[] {
  return attempts.map(({ at, status, error, duration_ms, response_body }, index) => ({
    key: `${id} ${index}`,
    at,
    tone: error === null ? 'ok' : 'bad',
    content: (
      <>
        <strong>
          <bdi>{destination}</bdi>
        </strong>{' '}
        <StateBadge tone={error === null ? 'ok' : 'bad'}>{status ?? 'no answer'}</StateBadge>
        <p className="dim small">
          attempt {index + 1}, {duration_ms} ms
          {error !== null && (
            <>
              {': '}
              <bdi>{error}</bdi>
            </>
          )}
        </p>
        {response_body && (
          <details className="small">
            <summary className="dim">Answer of the receiver</summary>
            <pre className="quoted">{response_body}</pre>
          </details>
        )}
      </>
    ),
  }))
}

function nextOf(projectId: string, delivery: NamedDelivery): Entry[] {
  const { id, status, destination_id, attempts_made } = delivery
  if (status === 'delivered' || status === 'cancelled') return []
  const destination = (
    <Link
      to="/projects/$projectId/destinations/$destinationId"
      params={{ projectId, destinationId: destination_id }}
    >
      <bdi>{delivery.destination}</bdi>
    </Link>
  )
  const texts: Readonly<Record<string, ReactNode>> = {
    pending: <Countdown delivery={delivery} />,
    held: 'held until the destination is enabled',
    exhausted: `gave up after ${attempts_made} attempts`,
  }
  return [
    {
      key: `${id} next`,
      at: null,
      tone: status === 'exhausted' ? 'bad' : status === 'held' ? 'warn' : 'neutral',
      content: (
        <div className="row">
          <span>
            <strong>{destination}</strong> {texts[status]}
          </span>
          {status !== 'held' && (
            <IfRole least="editor">
              <RetryNow projectId={projectId} deliveryId={id} />
            </IfRole>
          )}
        </div>
      ),
    },
  ]
}

function Countdown({ delivery: { next_attempt_at, attempts_made } }: { delivery: WholeDelivery }) {
  const now = useNow()
  const which = attempts_made === 0 ? 'first attempt' : `attempt ${attempts_made + 1}`
  if (next_attempt_at === null) return which
  const left = Date.parse(next_attempt_at) - now
  return (
    <span title={exactTime(next_attempt_at)}>
      {which} {left > 0 ? `in ${durationText(left)}` : 'is due'}
    </span>
  )
}

function RetryNow({ projectId, deliveryId }: { projectId: string; deliveryId: string }) {
  const path = { project_id: projectId, delivery_id: deliveryId }
  const retry = useChange((_: undefined) =>
    read(api.POST('/projects/{project_id}/deliveries/{delivery_id}/retry', { params: { path } })),
  )
  return (
    <>
      <Button isPending={retry.isPending} onPress={() => retry.mutate(undefined)}>
        Retry now
      </Button>
      <span role="status" className="small">
        {retry.error && <span className="tone-bad">{retry.error.message}</span>}
        {retry.data && 'due now'}
      </span>
    </>
  )
}
