import { useApi } from '../../api/query.ts'
import { useNow } from '../../components/relative-time.tsx'
import { durationText } from '../../components/time-text.ts'

const POLL_MS = 15_000

/** How long the oldest delivery that is due has waited, in the whole service. */
export function OldestDue() {
  const queue = useApi('/queue', {}, { pollMs: POLL_MS })
  const now = useNow()
  const oldest = queue.data?.oldest_due_at
  if (!queue.data) return null
  return oldest ? <>oldest due {durationText(now - Date.parse(oldest))} ago</> : <>nothing is due</>
}
