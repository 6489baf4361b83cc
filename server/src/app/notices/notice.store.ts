import { sql } from 'kysely'
import type { Reader, Transaction } from '../../platform/database/index.ts'
import type { NoticeRow } from './notice.ts'

interface NoticeTables {
  notices: NoticeRow
}

export const listOpenNotices = (reader: Reader): Promise<NoticeRow[]> =>
  reader.read<NoticeTables>().selectFrom('notices').selectAll().where('ended_at', 'is', null).execute()

export const hasNotice = async (reader: Reader, id: string): Promise<boolean> =>
  (await reader
    .read<NoticeTables>()
    .selectFrom('notices')
    .select('id')
    .where('id', '=', id)
    .executeTakeFirst()) !== undefined

/** Leaves out those that are open already, and those that began and ended in the same hour. */
export async function insertNotices(tx: Transaction, rows: readonly NoticeRow[]): Promise<void> {
  if (rows.length === 0) return
  await tx
    .write<NoticeTables>()
    .insertInto('notices')
    // In one order in every process, so that none wait for each other in a circle.
    .values(rows.toSorted((a, b) => (a.id < b.id ? -1 : 1)))
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

export async function markSeen(tx: Transaction, ids: readonly string[], now: number): Promise<void> {
  if (ids.length === 0) return
  await tx
    .write<NoticeTables>()
    .updateTable('notices')
    .set({ seen_at: now })
    .where('id', 'in', ids)
    .where('seen_at', '<', now)
    .execute()
}

/** Ends the notices that no process has seen since. The end of one that nobody tried to send is not sent either. */
export async function endUnseen(tx: Transaction, now: number, unseenSince: number): Promise<void> {
  await tx
    .write<NoticeTables>()
    .updateTable('notices')
    .set({
      ended_at: now,
      attempts: 0,
      // Not before an attempt that may be in flight has ended.
      next_attempt_at: sql<number | null>`case when was_tried = 0 then null
        when next_attempt_at > ${now} then next_attempt_at else ${now} end`,
    })
    .where('ended_at', 'is', null)
    .where('seen_at', '<', unseenSince)
    .execute()
}

/** Removes notices that ended before this time and have been sent. */
export async function deleteEnded(tx: Transaction, before: number): Promise<void> {
  await tx
    .write<NoticeTables>()
    .deleteFrom('notices')
    .where('ended_at', '<', before)
    .where('next_attempt_at', 'is', null)
    .execute()
}

export const listDue = (reader: Reader, now: number, limit: number): Promise<NoticeRow[]> =>
  reader
    .read<NoticeTables>()
    .selectFrom('notices')
    .selectAll()
    .where('next_attempt_at', '<=', now)
    .orderBy('next_attempt_at')
    .limit(limit)
    .execute()

/** True for one process, which may send it until the lease ends. */
export async function claimNotice(tx: Transaction, row: NoticeRow, leaseUntil: number): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .write<NoticeTables>()
    .updateTable('notices')
    .set({ next_attempt_at: leaseUntil, was_tried: 1 })
    .where('id', '=', row.id)
    .where('next_attempt_at', '=', row.next_attempt_at)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** Stores the result of an attempt, unless the notice has ended meanwhile: then its end is due. */
export async function settleNotice(
  tx: Transaction,
  row: NoticeRow,
  result: Pick<NoticeRow, 'attempts' | 'next_attempt_at'>,
): Promise<void> {
  await tx
    .write<NoticeTables>()
    .updateTable('notices')
    .set(result)
    .where('id', '=', row.id)
    .where('ended_at', row.ended_at === null ? 'is' : '=', row.ended_at)
    .execute()
}
