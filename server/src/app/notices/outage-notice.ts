import type { Database } from '../../platform/database/index.ts'
import type { Attention } from '../attention/attention.ts'
import { hasNotice } from './notice.store.ts'
import { type Message, messageOf, type NoticeRow, newNotice } from './notice.ts'

interface Deps {
  readonly db: Database
  readonly salt: string
  readonly service: () => string
  /** Whether this process is the one that reports an outage. */
  readonly isFirst: () => Promise<boolean>
  /** True if the receiver accepted the message. */
  readonly post: (message: Message) => Promise<boolean>
}

/**
 * The notice of a store that accepts no writes. Such a store cannot store it, so it is kept in memory: the first process
 * sends its start, and every process stores it afterwards, so that its end is sent even if the first one has died.
 */
export class OutageNotice {
  readonly #deps: Deps
  #row: NoticeRow | undefined
  #isSent = false

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async report(found: readonly Attention[]): Promise<void> {
    const entry = found.find(({ kind }) => kind === 'store.not_writable')
    if (!entry) return
    const { db, salt, service, isFirst, post } = this.#deps
    const now = await db.now()
    this.#row ??= { ...newNotice(entry, { now, salt }), was_tried: 1, next_attempt_at: null }
    this.#row.seen_at = now
    if (this.#isSent || (await hasNotice(db, this.#row.id)) || !(await isFirst())) return
    this.#isSent = await post(messageOf(this.#row, service()))
  }

  /** Rows to store as soon as the store accepts writes again. */
  unstored(): NoticeRow[] {
    return this.#row ? [this.#row] : []
  }

  stored(): void {
    this.#row = undefined
    this.#isSent = false
  }
}
