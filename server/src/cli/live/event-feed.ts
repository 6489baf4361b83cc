import type { Session } from '../call-api.ts'
import { CommandFailure, wrongUsage } from '../exit.ts'
import { durationMs } from '../format.ts'
import { type Io, type Live, remark } from '../io.ts'
import type { List } from '../resolve.ts'

/** An event as the list shows it. */
export interface EventHead {
  readonly id: string
  readonly kind: string
  readonly type: string
  readonly entity_id: string
  readonly campaign_id: string | null
  readonly group_id: string | null
  readonly created_at: string
}

interface FeedOptions {
  readonly projectId: string
  /** Epoch milliseconds; undefined for new events only. */
  readonly since?: number | undefined
  readonly kind?: string | undefined
  readonly signal?: AbortSignal | undefined
}

/** An event can become visible after a newer one, when its transaction commits later. No transaction lasts this long. */
const OVERLAP_MS = 60_000
/** Every tenth poll reads the whole overlap again. The others stop at the first known event. */
const FULL_POLL_EVERY = 10
const PAGE = 100

const timeOf = (event: EventHead): number => Date.parse(event.created_at)

/**
 * Polls the event log of a project for new events, oldest first. It reads by time and deduplicates by id, so nothing is missed
 * while this machine sleeps or the server is down. Only the server's clock is used.
 */
export class EventFeed {
  readonly #session: Session
  readonly #options: FeedOptions
  /** Handled ids with their times, within the overlap. */
  readonly #handled = new Map<string, number>()
  #latest: number | undefined
  #polls = 0

  constructor(session: Session, options: FeedOptions) {
    this.#session = session
    this.#options = options
  }

  /** Time of the latest handled event. */
  get latest(): number | undefined {
    return this.#latest
  }

  /** Without `since`, marks all existing events as handled. */
  async start(): Promise<void> {
    if (this.#options.since !== undefined) return
    const newest = (await this.#page({ limit: '1' })).events[0]
    if (!newest) return
    this.#latest = timeOf(newest)
    for (const event of await this.poll()) this.done(event)
  }

  /** Events that are not handled yet, oldest first. After a failure, call it again. */
  async poll(): Promise<EventHead[]> {
    const isFull = this.#polls++ % FULL_POLL_EVERY === 0
    const from = this.#from()
    const query = { limit: String(PAGE), ...(from !== undefined && { from: new Date(from).toISOString() }) }
    const found: EventHead[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: Page = await this.#page({ ...query, ...(cursor && { cursor }) })
      const fresh = page.events.filter(({ id }) => !this.#handled.has(id))
      found.push(...fresh)
      cursor = isFull || fresh.length === page.events.length ? page.next : null
    }
    return found.reverse()
  }

  done(event: EventHead): void {
    this.#handled.set(event.id, timeOf(event))
    this.#latest = Math.max(this.#latest ?? 0, timeOf(event))
    const from = this.#from()!
    for (const [id, at] of this.#handled) if (at < from) this.#handled.delete(id)
  }

  #from(): number | undefined {
    const { since } = this.#options
    if (this.#latest === undefined) return since
    return Math.max(this.#latest - OVERLAP_MS, since ?? 0)
  }

  async #page(query: Record<string, string>): Promise<Page> {
    const { projectId, kind, signal } = this.#options
    const { json } = await this.#session.call({
      method: 'GET',
      path: `/management/v1/projects/${projectId}/events`,
      query: { ...query, ...(kind && { kind }) },
      signal,
    })
    const list = json as List
    return { events: list.data as unknown as EventHead[], next: list.next_cursor ?? null }
  }
}

interface Page {
  readonly events: readonly EventHead[]
  readonly next: string | null
}

const POLL_EVERY_MS = 1_000
const MAX_WAIT_MS = 10_000

interface FollowParts {
  readonly feed: EventFeed
  readonly live: Live
  /** True if the event was shown and counts. After a temporary failure it is called again with the same event. */
  handle(event: EventHead): Promise<boolean>
  /** Stops after this many events. */
  readonly max?: number | undefined
}

/** Handles events until stopped. While the server is down it retries, and says so once. */
export async function follow(io: Io, { feed, live, handle, max }: FollowParts): Promise<void> {
  let shown = 0
  let failures = 0
  const succeeded = () => {
    if (failures > 0) remark(io, 'The server is back; no event was skipped.')
    failures = 0
  }
  while (!live.stopped.aborted) {
    try {
      for (const event of await feed.poll()) {
        if (live.stopped.aborted) return
        if (await handle(event)) shown++
        succeeded()
        feed.done(event)
        if (shown === max) return
      }
      succeeded()
    } catch (error) {
      if (live.stopped.aborted) return
      if (!(error instanceof CommandFailure && error.isTemporary)) throw error
      if (failures++ === 0) remark(io, `${firstLine(error.message)} Retrying until the server is back.`)
    }
    await live.wait(Math.min(POLL_EVERY_MS * 2 ** failures, MAX_WAIT_MS))
  }
}

const firstLine = (text: string): string => text.split('\n', 1)[0]!

/** Flags of `listen` and `event tail`. */
export interface FollowOptions {
  readonly since?: string
  readonly events?: string
}

/** Parses how long ago, such as `1h`, or a time. */
export function sinceOf(io: Io, { since }: FollowOptions): number | undefined {
  if (since === undefined) return undefined
  if (!/^\d{4}-/.test(since)) return io.now() - durationMs('--since', since)
  const at = Date.parse(since)
  if (Number.isNaN(at))
    throw wrongUsage('--since: expected a time such as 2026-11-15T14:00:00Z, or how long ago: 1h.')
  return at
}

export function maxEventsOf({ events }: FollowOptions): number | undefined {
  if (events === undefined) return undefined
  if (!/^[1-9]\d{0,8}$/.test(events))
    throw wrongUsage(`--events: ${JSON.stringify(events)} is not a positive number.`)
  return Number(events)
}

/** Local time of day. */
export const clockTime = (at: string | number): string => new Date(at).toTimeString().slice(0, 8)

/** Tells where the events start. */
export function startedText({ latest }: EventFeed, { since, events }: FollowOptions): string {
  const from = since ?? (latest === undefined ? undefined : clockTime(latest))
  const begin = since
    ? `Starting with events since ${from}.`
    : from
      ? `Waiting for events after ${from}. None is skipped.`
      : 'Waiting for the first event.'
  return events === undefined ? `${begin} Ctrl-C to quit.` : begin
}

/** Help of `--since`. */
export const SINCE_TEXT = 'also earlier events: 1h, 30m, 2d, or a time'
