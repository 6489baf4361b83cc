import { sql } from 'kysely'
import type { Reader, Transaction } from '../../platform/database/index.ts'
import type { EventTables } from '../events/index.ts'
import type { DeliveryTables } from './delivery.ts'

type Tables = DeliveryTables & EventTables

/** One batch of a project's old events, none of which is still in the outbox. */
export interface RetentionBatch {
  readonly projectId: string
  readonly eventIds: readonly string[]
  readonly before: number
}

/**
 * Of a delivery `x`: old, also by when it was delivered or given up, and nothing that someone may still get. What is
 * cancelled goes to nobody. The sign keeps the engines from looking for all that is old where a few events are named.
 */
const isRemovable = (before: number) => sql<boolean>`
  +x.created_at < ${before} and coalesce(x.settled_at, 0) < ${before} and (x.status <> 'pending' or not exists (
    select 1 from destinations d
    where d.project_id = x.project_id and d.id = x.destination_id and d.deleted_at is null))`

/** Of the events those at which there is something to do: read before anything is locked, since most often there is nothing. */
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

/** Up to `most` deliveries with their attempts; what someone holds at this moment is left for another time. How many. */
export async function deleteSomeDeliveries(
  tx: Transaction,
  { projectId, eventIds, before }: RetentionBatch,
  most: number,
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
        .limit(most),
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

/** Events of which no delivery is left, with their publications. */
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

/** At most `most` rows of a project that is gone; how many there were. */
export async function deleteSomeOfProject(
  tx: Transaction,
  table: keyof typeof KEYS,
  { projectId, most }: { projectId: string; most: number },
): Promise<number> {
  const key = sql.join(KEYS[table].map((name) => sql.ref(name)))
  const { numAffectedRows } = await sql`
    delete from ${sql.table(table)} where project_id = ${projectId}
      and (${key}) in (select ${key} from ${sql.table(table)} where project_id = ${projectId} limit ${most})`.execute(
    tx.write<Tables>(),
  )
  return Number(numAffectedRows)
}
