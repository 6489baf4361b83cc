import { durationMs } from '../duration.ts'
import { wrongUsage } from '../exit.ts'
import type { Io } from '../io.ts'
import type { EventFeed } from './event-feed.ts'

/** What everything that follows events can be told. */
export interface FollowOptions {
  readonly since?: string
  /** How many events. */
  readonly events?: string
}

/** `1h` ago, or a time. */
export function sinceOf(io: Io, { since }: FollowOptions): number | undefined {
  if (since === undefined) return undefined
  if (!/^\d{4}-/.test(since)) return io.now() - durationMs('--since', since)
  const at = Date.parse(since)
  if (Number.isNaN(at))
    throw wrongUsage('--since: give a time such as 2026-11-15T14:00:00Z, or how long ago: 1h.')
  return at
}

export function mostOf({ events }: FollowOptions): number | undefined {
  if (events === undefined) return undefined
  if (!/^[1-9]\d{0,8}$/.test(events))
    throw wrongUsage(`--events: ${JSON.stringify(events)} is not a number from 1.`)
  return Number(events)
}

/** As the clock on the wall shows it. */
export const clockTime = (at: string | number): string => new Date(at).toTimeString().slice(0, 8)

/** From where on, so that nobody has to wonder what was missed. */
export function startedText({ latest }: EventFeed, { since, events }: FollowOptions): string {
  const from = since ?? (latest === undefined ? undefined : clockTime(latest))
  const begin = since
    ? `Events since ${from} first.`
    : from
      ? `Events after ${from}; nothing in between is skipped.`
      : 'Waiting for the first event.'
  return events === undefined ? `${begin} Ctrl-C to quit.` : begin
}
