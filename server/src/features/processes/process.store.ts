import type { Reader, Transaction } from '../../platform/database/index.ts'
import { LISTED_FOR_MS, type ProcessRow } from './process.ts'

interface ProcessTables {
  processes: ProcessRow
}

export async function saveProcess(tx: Transaction, row: ProcessRow): Promise<void> {
  await tx
    .write<ProcessTables>()
    .insertInto('processes')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
    .execute()
}

/**
 * The processes with a heartbeat in the last `withinMs`, newest first. A heartbeat that lies further ahead was written
 * before the clock of the store was set back, and would stay for as long as that.
 */
export const listProcesses = (
  reader: Reader,
  { now, withinMs }: { now: number; withinMs: number },
): Promise<ProcessRow[]> =>
  reader
    .read<ProcessTables>()
    .selectFrom('processes')
    .selectAll()
    .where('seen_at', '>', now - withinMs)
    .where('seen_at', '<', now + withinMs)
    .orderBy('started_at', 'desc')
    .orderBy('id', 'desc')
    .execute()

/** Processes that answer requests and have not confirmed the state of keys for longer than this. */
export async function listStaleProcesses(
  reader: Reader,
  { now, maxAgeMs }: { now: number; maxAgeMs: number },
): Promise<{ row: ProcessRow; ageMs: number }[]> {
  const rows = await listProcesses(reader, { now, withinMs: LISTED_FOR_MS })
  return rows.flatMap((row) => {
    if (row.key_state_age_ms === null) return []
    const ageMs = row.key_state_age_ms + Math.max(0, now - row.seen_at)
    return ageMs > maxAgeMs ? [{ row, ageMs }] : []
  })
}

/**
 * Id of one process that answers requests, the same for every process that asks: the lowest of those whose heartbeat is
 * recent, compared with the newest one, since heartbeats end when the store accepts no writes.
 */
export async function findFirstProcessId(reader: Reader): Promise<string | undefined> {
  const rows = await reader
    .read<ProcessTables>()
    .selectFrom('processes')
    .select(['id', 'seen_at'])
    .where('role', '!=', 'worker')
    .orderBy('id')
    .execute()
  const newest = Math.max(...rows.map(({ seen_at }) => seen_at))
  return rows.find(({ seen_at }) => seen_at > newest - LISTED_FOR_MS)?.id
}

export async function deleteProcess(tx: Transaction, id: string): Promise<void> {
  await tx.write<ProcessTables>().deleteFrom('processes').where('id', '=', id).execute()
}

export async function deleteProcessesBefore(tx: Transaction, seenAt: number): Promise<void> {
  await tx.write<ProcessTables>().deleteFrom('processes').where('seen_at', '<=', seenAt).execute()
}
