import { type ExpressionBuilder, sql } from 'kysely'
import type { Reader } from '../../platform/database/index.ts'
import type { DestinationRow, DestinationTables } from '../webhooks/index.ts'
import type { DeliveryTables } from './delivery.ts'
import { EXHAUSTED, QUEUES, queuesOf } from './queues.store.ts'

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

interface DestinationName {
  readonly project_id: string
  readonly id: string
}

const isOneOf = (
  eb: ExpressionBuilder<Tables & { d: DestinationRow }, 'd'>,
  names: readonly DestinationName[],
) =>
  eb.or(names.map(({ project_id, id }) => eb.and([eb('d.project_id', '=', project_id), eb('d.id', '=', id)])))

/** Counts what waits for each destination and what was given up: one index range per destination and status. */
export const readBacklogs = (
  reader: Reader,
  names: readonly DestinationName[],
  now: number,
): Promise<Backlogs[]> =>
  names.length === 0
    ? Promise.resolve([])
    : backlogs(reader, now)
        .where((eb) => isOneOf(eb, names))
        .execute()

/** The destinations that have exhausted deliveries, of one project or of all. */
export async function listExhausted(
  reader: Reader,
  { projectId, now, limit }: { projectId?: string | undefined; now: number; limit: number },
): Promise<Backlogs[]> {
  const found = sql<{ project_id: string; id: string }>`
    with recursive ${queuesOf(EXHAUSTED, projectId)}
    select t.project_id, t.id from ${QUEUES} and t.deleted_at is null limit ${limit}`
  return readBacklogs(reader, (await found.execute(reader.read<Tables>() as never)).rows, now)
}

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

interface LastErrors {
  readonly id: string
  readonly pending_at: number | null
  readonly pending_error: string | null
  readonly exhausted_at: number | null
  readonly exhausted_error: string | null
}

/** The error of the newest delivery to each destination that failed or was given up, by destination. */
export async function lastErrorsOf(
  reader: Reader,
  names: readonly DestinationName[],
): Promise<Map<string, string | null>> {
  if (names.length === 0) return new Map()
  const rows = await reader
    .read<Tables>()
    .selectFrom('destinations as d')
    .where((eb) => isOneOf(eb, names))
    .select((eb) => {
      const newest = (status: 'pending' | 'exhausted', column: 'created_at' | 'last_error') =>
        eb
          .selectFrom('deliveries as x')
          .select(`x.${column}`)
          .whereRef('x.project_id', '=', 'd.project_id')
          .where('x.status', '=', sql.lit(status))
          .whereRef('x.destination_id', '=', 'd.id')
          .where('x.last_error', 'is not', null)
          .orderBy('x.created_at', 'desc')
          .orderBy('x.id', 'desc')
          .limit(1)
      return [
        'd.id',
        newest('pending', 'created_at').as('pending_at'),
        newest('pending', 'last_error').as('pending_error'),
        newest('exhausted', 'created_at').as('exhausted_at'),
        newest('exhausted', 'last_error').as('exhausted_error'),
      ]
    })
    .$castTo<LastErrors>()
    .execute()
  return new Map(
    rows.map((row) => [
      row.id,
      (row.pending_at ?? 0) > (row.exhausted_at ?? 0) ? row.pending_error : row.exhausted_error,
    ]),
  )
}
