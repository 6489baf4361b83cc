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

/** Small enough that nobody waits long for the one writer of SQLite. */
const ROWS_AT_ONCE = 500
/** Events that are looked at together. */
const EVENTS_AT_ONCE = 200
/** One run ends after this many stretches; the next goes on there, also past what has to stay. */
const STRETCHES_AT_ONCE = 100

const DAY_MS = 24 * 60 * 60_000

interface Place {
  readonly projectId: string
  readonly after: Pick<DeliveryRow, 'created_at' | 'id'> | undefined
}

interface Deps {
  readonly db: Database
  readonly days: number
  readonly stretches?: number
}

export interface Retention {
  /** Removes one batch of what is older than the retention period. */
  run(now: number): Promise<void>
}

/**
 * Removes old events, deliveries and publications, in small transactions. What is pending or held stays however old it
 * is, and its event with it: it can still be sent.
 */
export function createRetention({ db, days, stretches = STRETCHES_AT_ONCE }: Deps): Retention {
  let next: Place | undefined

  /** Where the next batch starts; undefined at the end. */
  async function walk(before: number): Promise<Place | undefined> {
    let walked = 0
    for (const projectId of (await listProjectsWithEventsBefore(db, before)).sort()) {
      if (next && projectId < next.projectId) continue
      let after = next?.projectId === projectId ? next.after : undefined
      do {
        if (walked++ === stretches) return { projectId, after }
        const events = await listOldEvents(db, { projectId, before, after }, EVENTS_AT_ONCE)
        await removeStretch(db, { projectId, before, eventIds: events.map(({ id }) => id) })
        after = events.length === EVENTS_AT_ONCE ? events.at(-1) : undefined
      } while (after)
    }
    return undefined
  }

  return {
    async run(now) {
      next = await walk(now - days * DAY_MS)
    },
  }
}

async function removeStretch(db: Database, stretch: RetentionBatch): Promise<void> {
  if (stretch.eventIds.length === 0) return
  const old = { ...stretch, eventIds: await listRemovable(db, stretch) }
  if (old.eventIds.length === 0) return
  let deleted: number
  do deleted = await db.transaction((tx) => deleteSomeDeliveries(tx, old, ROWS_AT_ONCE))
  while (deleted === ROWS_AT_ONCE)
  await db.transaction((tx) => deleteEventsAlone(tx, old))
}

/** Everything of a project that is gone, in small transactions: there may be millions. */
export async function removeDeliveriesOfProject(db: Database, projectId: string): Promise<void> {
  for (const table of TABLES) {
    let deleted: number
    do
      deleted = await db.transaction((tx) =>
        deleteSomeOfProject(tx, table, { projectId, most: ROWS_AT_ONCE }),
      )
    while (deleted === ROWS_AT_ONCE)
  }
}
