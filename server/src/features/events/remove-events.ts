import type { Database } from '../../platform/database/index.ts'
import { deleteSomeEvents, deleteSomeWaiting } from './event.store.ts'
import { deleteSomeReports } from './report.store.ts'

/** Small enough that nobody waits long for the one writer of SQLite. */
const ROWS_AT_ONCE = 500

/** Everything of a project that is gone, in small transactions: there may be millions. */
export async function removeEventsOfProject(db: Database, projectId: string): Promise<void> {
  for (const deleteSome of [deleteSomeWaiting, deleteSomeEvents, deleteSomeReports]) {
    let deleted: number
    do deleted = await db.transaction((tx) => deleteSome(tx, projectId, ROWS_AT_ONCE))
    while (deleted === ROWS_AT_ONCE)
  }
}
