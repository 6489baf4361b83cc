import type { Database } from '../../platform/database/index.ts'
import { listOldEvents, listProjectsWithEventsBefore } from '../events/index.ts'
import type { DeliveryRow } from './delivery.ts'
import {
  deleteEventsAlone,
  deleteSomeDeliveries,
  deleteSomeOfProject,
  listRemovable,
  type RetentionBatch,
  TABLES,
} from './removal.store.ts'

/** Small transactions, because SQLite has one writer. */
const ROWS_PER_BATCH = 500
const EVENTS_PER_BATCH = 200
/** A run ends after this many batches. The next run continues there, past the deliveries that must stay. */
const BATCHES_PER_RUN = 100

/** After a complete pass. Each pass looks for old events in every project, and nobody needs them gone to the minute. */
const PASS_EVERY_MS = 5 * 60_000

const DAY_MS = 24 * 60 * 60_000

interface Position {
  readonly projectId: string
  readonly after: Pick<DeliveryRow, 'created_at' | 'id'> | undefined
}

interface Deps {
  readonly db: Database
  readonly days: number
  readonly batchesPerRun?: number
}

export interface Retention {
  /** Removes data that is older than the retention period, in a limited number of batches. */
  run(now: number): Promise<void>
}

/**
 * Removes old events, deliveries and publications in small transactions. A pending or held delivery stays with its event at
 * any age, because it can still be sent.
 */
export function createRetention({ db, days, batchesPerRun = BATCHES_PER_RUN }: Deps): Retention {
  let next: Position | undefined
  let completedAt = Number.NEGATIVE_INFINITY

  /** Position of the next batch; undefined at the end. */
  async function runBatches(before: number): Promise<Position | undefined> {
    let batches = 0
    for (const projectId of (await listProjectsWithEventsBefore(db, before)).sort()) {
      if (next && projectId < next.projectId) continue
      let after = next?.projectId === projectId ? next.after : undefined
      do {
        if (batches++ === batchesPerRun) return { projectId, after }
        const events = await listOldEvents(db, { projectId, before, after }, EVENTS_PER_BATCH)
        await removeBatch(db, { projectId, before, eventIds: events.map(({ id }) => id) })
        after = events.length === EVENTS_PER_BATCH ? events.at(-1) : undefined
      } while (after)
    }
    return undefined
  }

  return {
    async run(now) {
      // A clock that was set back must not delay the next pass.
      if (!next && Math.abs(now - completedAt) < PASS_EVERY_MS) return
      next = await runBatches(now - days * DAY_MS)
      if (!next) completedAt = now
    },
  }
}

async function removeBatch(db: Database, batch: RetentionBatch): Promise<void> {
  if (batch.eventIds.length === 0) return
  const old = { ...batch, eventIds: await listRemovable(db, batch) }
  if (old.eventIds.length === 0) return
  let deleted: number
  do deleted = await db.transaction((tx) => deleteSomeDeliveries(tx, old, ROWS_PER_BATCH))
  while (deleted === ROWS_PER_BATCH)
  await db.transaction((tx) => deleteEventsAlone(tx, old))
}

/** Removes all data of a deleted project in small transactions, because there may be millions of rows. */
export async function removeDeliveriesOfProject(db: Database, projectId: string): Promise<void> {
  for (const table of TABLES) {
    let deleted: number
    do
      deleted = await db.transaction((tx) =>
        deleteSomeOfProject(tx, table, { projectId, limit: ROWS_PER_BATCH }),
      )
    while (deleted === ROWS_PER_BATCH)
  }
}
