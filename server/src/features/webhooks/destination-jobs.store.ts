import { sql } from 'kysely'
import type { Reader, Transaction } from '../../platform/database/index.ts'
import type { EventTables } from '../events/index.ts'
import type { DestinationRow, DestinationTables } from './destination.store.ts'

/** Lists enabled destinations whose held deliveries are not yet due again. */
export const listReleased = (reader: Reader): Promise<DestinationRow[]> =>
  reader
    .read<DestinationTables>()
    .selectFrom('destinations')
    .selectAll()
    .where('released_at', 'is not', null)
    .execute()

/** Ends the release, unless the destination was enabled again since it was read. */
export async function finishRelease(tx: Transaction, row: DestinationRow): Promise<void> {
  await tx
    .write<DestinationTables>()
    .updateTable('destinations')
    .set({ released_at: null })
    .where('project_id', '=', row.project_id)
    .where('id', '=', row.id)
    .where('released_at', '=', row.released_at)
    .execute()
}

/** Removes previous secrets whose overlap has ended. */
export async function forgetPreviousSecrets(tx: Transaction, now: number): Promise<void> {
  await tx
    .write<DestinationTables>()
    .updateTable('destinations')
    .set({ previous_secret: null, previous_until: null })
    .where('previous_until', '<=', now)
    .execute()
}

/** Much longer than the clocks of two processes may differ. */
const HOUR_MS = 3_600_000

/** Clears `skips` of destinations once their project has no earlier event left in the outbox. */
export async function forgetSkips(tx: Transaction): Promise<void> {
  await tx
    .write<DestinationTables & EventTables>()
    .updateTable('destinations')
    .set({ skips: '[]' })
    // A literal, like in the condition of the index.
    .where('skips', '<>', sql.lit('[]'))
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('outbox')
            .select('outbox.event_id')
            .whereRef('outbox.project_id', '=', 'destinations.project_id')
            .where(sql<boolean>`outbox.created_at < destinations.created_at + ${sql.lit(HOUR_MS)}`),
        ),
      ),
    )
    .execute()
}
