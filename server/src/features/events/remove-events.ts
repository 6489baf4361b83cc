import type { Database } from '../../platform/database/index.ts'
import { deleteSomeEvents, deleteSomeWaiting } from './event.store.ts'
import { deleteSomeReports } from './report.store.ts'

/** Small enough that a transaction does not block the single SQLite writer for long. */
const ROWS_PER_TRANSACTION = 500

/** Deletes all events of a deleted project in small transactions, because there may be millions. */
export async function removeEventsOfProject(db: Database, projectId: string): Promise<void> {
  for (const deleteSome of [deleteSomeWaiting, deleteSomeEvents, deleteSomeReports]) {
    let deleted: number
    do deleted = await db.transaction((tx) => deleteSome(tx, projectId, ROWS_PER_TRANSACTION))
    while (deleted === ROWS_PER_TRANSACTION)
  }
}
