import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useConnection } from '../api/connection.ts'
import { WHOAMI } from '../api/query.ts'
import { useNow } from '../components/relative-time.tsx'
import { clockTime, durationText } from '../components/time-text.ts'

const RETRY_MS = 3_000

/** While the server does not answer: the age of what is shown. Tries again until it answers, then reads everything again. */
export function ConnectionBanner() {
  const client = useQueryClient()
  const { isReachable, contactAt } = useConnection()
  useEffect(() => {
    if (isReachable) return
    const timer = setInterval(() => void client.refetchQueries({ queryKey: WHOAMI }), RETRY_MS)
    return () => {
      clearInterval(timer)
      void client.invalidateQueries()
    }
  }, [isReachable, client])
  return isReachable ? null : <Banner contactAt={contactAt} />
}

function Banner({ contactAt }: { contactAt: number }) {
  const now = useNow()
  return (
    <p className="banner" role="status">
      The server is not reachable. Shown is the state of {clockTime(contactAt)},{' '}
      {durationText(now - contactAt)} ago.
    </p>
  )
}
