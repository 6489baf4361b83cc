import type { List } from '../pages.ts'
import type { Session } from '../session.ts'

/** What a list tells of an event. */
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
  /** Epoch milliseconds; without it, only what comes from now on. */
  readonly since?: number | undefined
  readonly kind?: string | undefined
  readonly signal?: AbortSignal | undefined
}

/** A transaction that began earlier may commit later: no store lets one wait for anything like as long. */
const OVERLAP_MS = 60_000
/** How often the whole overlap is read again. In between, reading stops at the first event that is known. */
const DEEP_EVERY = 10
const PAGE = 100

const timeOf = (event: EventHead): number => Date.parse(event.created_at)

/**
 * New events of a project from its log, oldest first. The log is read by time and told apart by id, so nothing is missed
 * while this machine sleeps or the server is away. The server's times alone count; no clock of this machine does.
 */
export class EventFeed {
  readonly #session: Session
  readonly #options: FeedOptions
  /** Ids that have been dealt with, with their times, as far back as is read again. */
  readonly #known = new Map<string, number>()
  #latest: number | undefined
  #looks = 0

  constructor(session: Session, options: FeedOptions) {
    this.#session = session
    this.#options = options
  }

  /** When the latest event was written that has been dealt with. */
  get latest(): number | undefined {
    return this.#latest
  }

  /** Where nothing was said of since when: all that is there counts as dealt with. */
  async start(): Promise<void> {
    if (this.#options.since !== undefined) return
    const newest = (await this.#page({ limit: '1' })).events[0]
    if (!newest) return
    this.#latest = timeOf(newest)
    for (const event of await this.look()) this.done(event)
  }

  /** What has not been dealt with yet, oldest first. After a failure simply call it again. */
  async look(): Promise<EventHead[]> {
    const deep = this.#looks++ % DEEP_EVERY === 0
    const from = this.#from()
    const query = { limit: String(PAGE), ...(from !== undefined && { from: new Date(from).toISOString() }) }
    const found: EventHead[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: Page = await this.#page({ ...query, ...(cursor && { cursor }) })
      const fresh = page.events.filter(({ id }) => !this.#known.has(id))
      found.push(...fresh)
      cursor = deep || fresh.length === page.events.length ? page.next : null
    }
    return found.reverse()
  }

  done(event: EventHead): void {
    this.#known.set(event.id, timeOf(event))
    this.#latest = Math.max(this.#latest ?? 0, timeOf(event))
    const from = this.#from()!
    for (const [id, at] of this.#known) if (at < from) this.#known.delete(id)
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
    return { events: list.data as unknown as EventHead[], next: list.next_cursor }
  }
}

interface Page {
  readonly events: readonly EventHead[]
  readonly next: string | null
}
