import { useState } from 'react'

const MINUTE_MS = 60_000

/** The start of the last minutes, to the minute: the same for a whole minute, so that queries are not repeated for it. */
export function useMinutesAgo(minutes: number): string {
  const [start] = useState(() => Date.now())
  return new Date(Math.floor(start / MINUTE_MS) * MINUTE_MS - minutes * MINUTE_MS).toISOString()
}
