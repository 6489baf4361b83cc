import type { Database } from '../../platform/database/index.ts'
import { claimNotice, listDue, settleNotice } from './notice.store.ts'
import { type Message, messageOf, type NoticeRow } from './notice.ts'

export const SEND_EVERY_MS = 5_000
const NOTICES_PER_BATCH = 20
/** Longer than the deadline of an attempt. */
const LEASE_MS = 60_000
const FIRST_RETRY_MS = 10_000
const MAX_RETRY_MS = 60 * 60_000

interface Deps {
  readonly db: Database
  readonly service: () => string
  /** True if the receiver accepted the message. */
  readonly post: (message: Message) => Promise<boolean>
}

/** Sends the notices that are due. Each is claimed first, so that one process sends it. */
export function createNoticeSender({ db, service, post }: Deps) {
  /** Accepted by the receiver, while the store did not accept the result: it must not be sent again. */
  const unsettled = new Map<string, NoticeRow>()

  async function settle(row: NoticeRow, retryInMs: number | null): Promise<void> {
    await db.transaction(async (tx) =>
      settleNotice(
        tx,
        row,
        retryInMs === null
          ? { attempts: 0, next_attempt_at: null }
          : { attempts: row.attempts + 1, next_attempt_at: (await tx.now()) + retryInMs },
      ),
    )
    unsettled.delete(row.id)
  }

  async function sendOne(row: NoticeRow, now: number): Promise<void> {
    if (!(await db.transaction((tx) => claimNotice(tx, row, now + LEASE_MS)))) return
    const isSent = await post(messageOf(row, service()))
    if (isSent) unsettled.set(row.id, row)
    await settle(row, isSent ? null : Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** row.attempts))
  }

  return async function run(): Promise<void> {
    for (const row of unsettled.values()) await settle(row, null)
    const now = await db.now()
    const due = await listDue(db, now, NOTICES_PER_BATCH)
    await Promise.all(due.map((row) => sendOne(row, now)))
  }
}
