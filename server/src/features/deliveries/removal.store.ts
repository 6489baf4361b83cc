import { sql } from 'kysely'
import type { Reader, Transaction } from '../../platform/database/index.ts'
import type { EventTables } from '../events/index.ts'
import type { PublicationTables } from '../publications/index.ts'
import type { DeliveryTables } from './delivery.ts'

type Tables = DeliveryTables & EventTables & PublicationTables

/** One batch of a project's old events, none of which is still in the outbox. */
export interface RetentionBatch {
  readonly projectId: string
  readonly eventIds: readonly string[]
  readonly before: number
}

/**
 * True if the delivery `x` was created and settled before the given time and can no longer be sent. A cancelled one is never
 * sent. The plus sign keeps the engines from using the index by age when only a few events are given.
 */
const isRemovable = (before: number) => sql<boolean>`
  +x.created_at < ${before} and coalesce(x.settled_at, 0) < ${before} and (x.status <> 'pending' or not exists (
    select 1 from destinations d
    where d.project_id = x.project_id and d.id = x.destination_id and d.deleted_at is null))`

/** Lists events that have something to remove. Read before anything is locked, because usually there is nothing. */
export async function listRemovable(
  reader: Reader,
  { projectId, eventIds, before }: RetentionBatch,
): Promise<string[]> {
  const rows = await reader
    .read<Tables>()
    .selectFrom('events')
    .select('events.id')
    .where('events.project_id', '=', projectId)
    .where('events.id', 'in', eventIds)
    .where((eb) => {
      const deliveries = eb
        .selectFrom('deliveries as x')
        .select('x.id')
        .whereRef('x.project_id', '=', 'events.project_id')
        .whereRef('x.event_id', '=', 'events.id')
      return eb.or([eb.exists(deliveries.where(isRemovable(before))), eb.not(eb.exists(deliveries))])
    })
    .execute()
  return rows.map(({ id }) => id)
}

/** Deletes up to `limit` deliveries with their attempts, and returns the number. Locked ones wait for the next run. */
export async function deleteSomeDeliveries(
  tx: Transaction,
  { projectId, eventIds, before }: RetentionBatch,
  limit: number,
): Promise<number> {
  const old = await tx
    .claim(
      tx
        .write<Tables>()
        .selectFrom('deliveries as x')
        .select('x.id')
        .where('x.project_id', '=', projectId)
        .where('x.event_id', 'in', eventIds)
        .where(isRemovable(before))
        .limit(limit),
    )
    .execute()
  const ids = old.map(({ id }) => id)
  if (ids.length === 0) return 0
  const write = tx.write<Tables>()
  await write
    .deleteFrom('attempts')
    .where('project_id', '=', projectId)
    .where('delivery_id', 'in', ids)
    .execute()
  await write.deleteFrom('deliveries').where('project_id', '=', projectId).where('id', 'in', ids).execute()
  return ids.length
}

/** Deletes the events that have no delivery left, with their publications. */
export async function deleteEventsAlone(
  tx: Transaction,
  { projectId, eventIds }: RetentionBatch,
): Promise<void> {
  const write = tx.write<Tables>()
  const gone = await write
    .deleteFrom('events')
    .where('project_id', '=', projectId)
    .where('id', 'in', eventIds)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('deliveries as x')
            .select('x.id')
            .whereRef('x.project_id', '=', 'events.project_id')
            .whereRef('x.event_id', '=', 'events.id'),
        ),
      ),
    )
    .returning('id')
    .execute()
  const ids = gone.map(({ id }) => id)
  if (ids.length === 0) return
  await write
    .deleteFrom('publications')
    .where('project_id', '=', projectId)
    .where('event_id', 'in', ids)
    .execute()
}

const KEYS = {
  attempts: ['delivery_id', 'number'],
  deliveries: ['id'],
  publications: ['id'],
} as const

export const TABLES = Object.keys(KEYS) as (keyof typeof KEYS)[]

/** Deletes up to `limit` rows of a deleted project, and returns the number. */
export async function deleteSomeOfProject(
  tx: Transaction,
  table: keyof typeof KEYS,
  { projectId, limit }: { projectId: string; limit: number },
): Promise<number> {
  const key = sql.join(KEYS[table].map((name) => sql.ref(name)))
  const { numAffectedRows } = await sql`
    delete from ${sql.table(table)} where project_id = ${projectId}
      and (${key}) in (select ${key} from ${sql.table(table)} where project_id = ${projectId} limit ${limit})`.execute(
    tx.write<Tables>(),
  )
  return Number(numAffectedRows)
}
