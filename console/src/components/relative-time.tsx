import { useSyncExternalStore } from 'react'
import { ageText, exactTime } from './time-text.ts'

let now = Date.now()
const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  timer ??= setInterval(() => {
    now = Date.now()
    for (const each of listeners) each()
  }, 1_000)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

/** The time in epoch milliseconds, every second. */
export const useNow = (): number => useSyncExternalStore(subscribe, () => now)

/** The minutes since the epoch, every minute. */
export const useMinute = (): number => useSyncExternalStore(subscribe, () => Math.floor(now / 60_000))

/** "2 min ago" or "in 4 s", with the exact time on hover. */
export function RelativeTime({ at, never = 'never' }: { at: string | null | undefined; never?: string }) {
  const current = useNow()
  if (!at) return <span className="dim">{never}</span>
  return (
    <time dateTime={at} title={exactTime(at)} className="nowrap">
      {ageText(Date.parse(at), current)}
    </time>
  )
}
