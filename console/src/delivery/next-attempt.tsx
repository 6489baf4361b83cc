import { RelativeTime, useNow } from '../components/relative-time.tsx'
import { exactTime } from '../components/time-text.ts'

/** When the delivery is tried again. One that is due waits for its turn. */
export function NextAttempt({ at }: { at: string | null }) {
  const now = useNow()
  return at !== null && Date.parse(at) <= now ? (
    <span title={exactTime(at)}>due</span>
  ) : (
    <RelativeTime at={at} never="–" />
  )
}
