import { sql } from 'kysely'
import type { Reader } from '../../platform/database/index.ts'
import type { DestinationTables } from '../webhooks/index.ts'
import type { DeliveryTables } from './delivery.ts'

type Tables = DeliveryTables & DestinationTables

/** Counting stops here for each destination. */
export const MAX_COUNTED = 1_000

export interface Backlogs {
  readonly id: string
  readonly project_id: string
  readonly pending: number
  readonly exhausted: number
  readonly oldest_due_at: number | null
}

/** Counts what waits for each destination and what was given up: one index range per destination and status. */
export const readBacklogs = (reader: Reader, ids: readonly string[], now: number): Promise<Backlogs[]> =>
  ids.length === 0 ? Promise.resolve([]) : backlogs(reader, now).where('d.id', 'in', ids).execute()

/** The destinations that have exhausted deliveries, of one project or of all. */
export const listExhausted = (
  reader: Reader,
  { projectId, now, limit }: { projectId?: string | undefined; now: number; limit: number },
): Promise<Backlogs[]> =>
  backlogs(reader, now)
    .$if(projectId !== undefined, (query) => query.where('d.project_id', '=', projectId!))
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('deliveries as y')
          .select('y.id')
          .where('y.status', '=', sql.lit('exhausted'))
          .whereRef('y.project_id', '=', 'd.project_id')
          .whereRef('y.destination_id', '=', 'd.id'),
      ),
    )
    .limit(limit)
    .execute()

const backlogs = (reader: Reader, now: number) =>
  reader
    .read<Tables>()
    .selectFrom('destinations as d')
    .where('d.deleted_at', 'is', null)
    .select((eb) => {
      const own = (status: string) =>
        eb
          .selectFrom('deliveries as x')
          .where('x.status', '=', sql.lit(status) as never)
          .whereRef('x.project_id', '=', 'd.project_id')
          .whereRef('x.destination_id', '=', 'd.id')
      const counted = (status: string) =>
        eb
          .selectFrom(own(status).select('x.id').limit(MAX_COUNTED).as('some'))
          .select(eb.fn.countAll<number>().as('n'))
      return [
        'd.id',
        'd.project_id',
        counted('pending').as('pending'),
        counted('exhausted').as('exhausted'),
        own('pending')
          .where('x.next_attempt_at', '<=', now)
          .select(({ fn }) => fn.min('x.next_attempt_at').as('at'))
          .as('oldest_due_at'),
      ]
    })
    .$castTo<Backlogs>()

/** The error of the newest delivery that failed or was given up. */
export async function lastErrorOf(
  reader: Reader,
  { project_id, id }: { project_id: string; id: string },
): Promise<string | null> {
  const newest = (status: 'pending' | 'exhausted') =>
    reader
      .read<DeliveryTables>()
      .selectFrom('deliveries')
      .select(['created_at', 'last_error'])
      .where('project_id', '=', project_id)
      .where('status', '=', sql.lit(status))
      .where('destination_id', '=', id)
      .where('last_error', 'is not', null)
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirst()
  const found = (await Promise.all([newest('pending'), newest('exhausted')])).filter(
    (row) => row !== undefined,
  )
  return found.sort((a, b) => b.created_at - a.created_at)[0]?.last_error ?? null
}
