import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Schemas } from '../../api/client.ts'
import { type AnswerOf, useApi } from '../../api/query.ts'
import { Card } from '../../components/card.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { bytesText, countText, percentText } from '../../components/number-text.ts'
import { PAGE_SIZE } from '../../components/pager.tsx'
import { RelativeTime, useNow } from '../../components/relative-time.tsx'
import { StateBadge } from '../../components/state-badge.tsx'
import { durationText, exactTime } from '../../components/time-text.ts'
import { useSearchParams } from '../../routing/search-params.ts'

type Process = Schemas['Process']

const POLL_MS = 2_000
/** From then on the attention list names the process. After 30 s it returns 503. */
const STALE_KEY_STATE_MS = 10_000
const REFUSING_KEY_STATE_MS = 30_000
/** A delay that callers notice. */
const SLOW_LOOP_MS = 100

export function useProcesses() {
  const [{ page }] = useSearchParams()
  const query = { limit: PAGE_SIZE, ...(page && { page: Number(page) }) }
  return useApi('/processes', { query }, { pollMs: POLL_MS })
}

const ROLES: Readonly<Record<Process['role'], string>> = {
  http: 'HTTP',
  worker: 'worker',
  both: 'HTTP and worker',
}

const none = <span className="dim">none</span>

/** Time, or the tone of a state that needs a look. */
function Limited({ value, from, children }: { value: number; from: number; children: ReactNode }) {
  return value < from ? children : <span className="tone-warn">{children}</span>
}

function KeyStateAge({ ms }: { ms: number | null }) {
  if (ms === null) return none
  const text = ms < STALE_KEY_STATE_MS ? `${(ms / 1000).toFixed(1)} s` : durationText(ms)
  if (ms < STALE_KEY_STATE_MS) return text
  return <StateBadge tone={ms < REFUSING_KEY_STATE_MS ? 'warn' : 'bad'}>{text}</StateBadge>
}

function Uptime({ startedAt }: { startedAt: string }) {
  const now = useNow()
  return <span title={exactTime(startedAt)}>{durationText(now - Date.parse(startedAt))}</span>
}

const COLUMNS: readonly Column<Process>[] = [
  {
    header: 'Host',
    cell: ({ host, pid }) => (
      <>
        {host} <span className="dim nowrap">process {pid}</span>
      </>
    ),
  },
  { header: 'Role', cell: ({ role }) => ROLES[role] },
  { header: 'Version', cell: ({ version }) => version },
  { header: 'Uptime', align: 'end', cell: ({ started_at }) => <Uptime startedAt={started_at} /> },
  { header: 'Key state', align: 'end', cell: (row) => <KeyStateAge ms={row.key_state_age_ms} /> },
  {
    header: 'Cached tokens',
    align: 'end',
    cell: ({ cached_tokens }) => (cached_tokens === null ? none : countText(cached_tokens)),
  },
  {
    header: 'Cache hits',
    align: 'end',
    cell: ({ cache_hit_rate }) => (cache_hit_rate === null ? none : percentText(cache_hit_rate)),
  },
  {
    header: 'Loop delay, p99',
    align: 'end',
    cell: ({ event_loop_delay_p99_ms: ms }) =>
      ms === null ? (
        none
      ) : (
        <Limited value={ms} from={SLOW_LOOP_MS}>
          {ms.toFixed(1)} ms
        </Limited>
      ),
  },
  { header: 'Memory', align: 'end', cell: ({ rss_bytes }) => bytesText(rss_bytes) },
  { header: 'Seen', align: 'end', cell: ({ seen_at }) => <RelativeTime at={seen_at} /> },
]

interface ProcessesProps {
  readonly query: UseQueryResult<AnswerOf<'/processes'>>
  readonly hasSeveralVersions: boolean
}

export const Processes = ({ query, hasSeveralVersions }: ProcessesProps) => (
  <Card
    title="Processes"
    aside={hasSeveralVersions && <StateBadge tone="warn">several versions</StateBadge>}
    flush
  >
    <DataTable
      label="Processes"
      query={query}
      columns={COLUMNS}
      rowKey={({ id }) => id}
      empty={{ sentence: 'No process has reported in the last 30 s.', command: 'jeton process list' }}
    />
  </Card>
)
