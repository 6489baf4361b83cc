import { useApi } from '../../api/query.ts'
import { RelativeTime } from '../../components/relative-time.tsx'

const POLL_MS = 15_000

/** How long the oldest delivery that is due has waited, in the whole service. */
export function OldestDue() {
  const queue = useApi('/queue', {}, { pollMs: POLL_MS })
  if (!queue.data) return null
  const { oldest_due_at: oldest } = queue.data
  return oldest ? (
    <>
      oldest due <RelativeTime at={oldest} />
    </>
  ) : (
    <>nothing is due</>
  )
}
