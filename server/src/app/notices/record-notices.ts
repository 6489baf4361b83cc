import { type Database, StoreNotWritable } from '../../platform/database/index.ts'
import type { Attention } from '../attention/attention.ts'
import { deleteEnded, endUnseen, insertNotices, listOpenNotices, markSeen } from './notice.store.ts'
import { isNoticed, type NoticeRow, newNotice, subjectKey } from './notice.ts'
import type { OutageNotice } from './outage-notice.ts'

export const RECORD_EVERY_MS = 20_000
/** A problem is over when no process has found it for this long. Some are seen by one process only. */
const OVER_AFTER_MS = 3 * RECORD_EVERY_MS
/** Another process has just seen it. */
const SEEN_RECENTLY_MS = RECORD_EVERY_MS / 2
/** Longer than the hour in which a subject gets no second notice. */
const KEEP_MS = 24 * 60 * 60_000

interface Deps {
  readonly db: Database
  readonly listAttention: () => Promise<readonly Attention[]>
  readonly outage: OutageNotice
  readonly salt: string
  /** Called after new notices were stored. */
  readonly onNew: () => void
}

/** Looks for problems, and stores which are new and which are over. */
export function createNoticeRecorder({ db, listAttention, outage, salt, onNew }: Deps) {
  async function record(found: readonly Attention[]): Promise<void> {
    const now = await db.now()
    const open = await listOpenNotices(db)
    const openKeys = new Set(open.map(subjectKey))
    const rows = [...outage.unstored(), ...found.map((one) => newNotice(one, { now, salt }))]
    const fresh = firstOfEach(rows.filter((row) => !openKeys.has(subjectKey(row))))
    const foundKeys = new Set(rows.map(subjectKey))
    const isOld = ({ seen_at }: NoticeRow) => seen_at < now - SEEN_RECENTLY_MS
    const seen = open.filter((row) => foundKeys.has(subjectKey(row)) && isOld(row))
    const isUnseen = (row: NoticeRow) => !foundKeys.has(subjectKey(row)) && row.seen_at < now - OVER_AFTER_MS
    if (fresh.length === 0 && seen.length === 0 && !open.some(isUnseen)) return
    await db.transaction(async (tx) => {
      await markSeen(
        tx,
        seen.map(({ id }) => id),
        now,
      )
      await endUnseen(tx, now, now - OVER_AFTER_MS)
      await insertNotices(tx, fresh)
      await deleteEnded(tx, now - KEEP_MS)
    })
    outage.stored()
    onNew()
  }

  return async function run(): Promise<void> {
    const found = (await listAttention()).filter(isNoticed)
    try {
      await record(found)
    } catch (error) {
      if (!(error instanceof StoreNotWritable)) throw error
      await outage.report(found)
    }
  }
}

const firstOfEach = (rows: readonly NoticeRow[]): NoticeRow[] => [
  ...new Map(rows.toReversed().map((row) => [subjectKey(row), row])).values(),
]
