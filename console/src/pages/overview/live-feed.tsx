import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Schemas } from '../../api/client.ts'
import { useApi } from '../../api/query.ts'
import { Address } from '../../components/address.tsx'
import { Card } from '../../components/card.tsx'
import { EmptyState, Skeleton } from '../../components/notices.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { StateBadge } from '../../components/state-badge.tsx'
import { kindText } from '../../delivery/event-kind.ts'
import { useProjectId } from '../../routing/project-route.tsx'

const POLL_MS = 3_000
const MAX_SHOWN = 15
const MAX_READ = 50

interface Line {
  readonly id: string
  readonly at: string
  readonly badge: ReactNode
  readonly text: ReactNode
  /** Neighbours with the same value are one line with a count. */
  readonly same: string
}

const eventLine = (projectId: string, { id, type, created_at, entity_id }: Schemas['Event']): Line => ({
  id,
  at: created_at,
  same: id,
  badge: <StateBadge tone="neutral">event</StateBadge>,
  text: (
    <>
      <Link to="/projects/$projectId/events/$eventId" params={{ projectId, eventId: id }} title={type}>
        {kindText(type)}
      </Link>{' '}
      <span className="dim">
        of <span className="mono">{entity_id}</span>
      </span>
    </>
  ),
})

const refusalLine = (projectId: string, refusal: Schemas['Refusal']): Line => ({
  id: refusal.request_id,
  at: refusal.at,
  same: [
    refusal.method,
    refusal.original_path ?? refusal.path,
    refusal.key,
    refusal.address,
    refusal.key_id,
  ].join(' '),
  badge: <StateBadge tone="warn">refused</StateBadge>,
  text: (
    <>
      <Link
        to="/projects/$projectId/access"
        params={{ projectId }}
        search={{ request: refusal.request_id } as never}
      >
        {refusal.original_path ?? `${refusal.method} ${refusal.path}`}
      </Link>{' '}
      <span className="dim">
        {refusal.status} {refusal.key}, from <Address value={refusal.address} />
      </span>
    </>
  ),
})

/** One line for several in a row that say the same; the newest stands for them. */
function grouped(lines: readonly Line[]): (Line & { readonly count: number })[] {
  const groups: (Line & { count: number })[] = []
  for (const line of lines) {
    const last = groups.at(-1)
    if (last?.same === line.same) last.count++
    else groups.push({ ...line, count: 1 })
  }
  return groups
}

/** Events and refusals as they happen, newest first. */
export function LiveFeed() {
  const projectId = useProjectId()
  const parameters = { path: { project_id: projectId }, query: { limit: MAX_READ } }
  const events = useApi('/projects/{project_id}/events', parameters, { pollMs: POLL_MS })
  const refusals = useApi('/projects/{project_id}/refusals', parameters, { pollMs: POLL_MS })
  const lines = [
    ...(events.data?.data ?? []).map((event) => eventLine(projectId, event)),
    ...(refusals.data?.data ?? []).map((refusal) => refusalLine(projectId, refusal)),
  ]
  const shown = grouped(lines.sort((a, b) => b.at.localeCompare(a.at))).slice(0, MAX_SHOWN)
  if (events.isPending || refusals.isPending) return <Skeleton lines={4} />
  return (
    <Card title="Live" flush>
      {shown.length === 0 ? (
        <EmptyState sentence="No event and no refusal yet." command="jeton trigger redemption" />
      ) : (
        <ul className="feed">
          {shown.map(({ id, at, badge, text, count }) => (
            <li key={id}>
              <span className="dim">
                <RelativeTime at={at} />
              </span>
              {badge}
              <span>
                {text} {count > 1 && <strong>×{count}</strong>}
              </span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}
