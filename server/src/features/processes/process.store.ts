import type { Reader, Transaction } from '../../platform/database/index.ts'
import type { ProcessRow } from './process.ts'

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

export async function deleteProcess(tx: Transaction, id: string): Promise<void> {
  await tx.write<ProcessTables>().deleteFrom('processes').where('id', '=', id).execute()
}

export async function deleteProcessesBefore(tx: Transaction, seenAt: number): Promise<void> {
  await tx.write<ProcessTables>().deleteFrom('processes').where('seen_at', '<=', seenAt).execute()
}
