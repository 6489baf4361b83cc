import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Database } from '../../platform/database/index.ts'
import type { DeliveryRow } from './delivery.ts'

/** Selects deliveries whose last attempt failed, by its HTTP status and by a part of its error. */
export interface FailureFilter {
  readonly httpStatus?: number | undefined
  readonly error?: string | undefined
}

export const isFailureFilter = ({ httpStatus, error }: FailureFilter): boolean =>
  (httpStatus ?? error) !== undefined

/**
 * `last_error is not null` is the condition of the partial indexes, which hold failures only. A search by error ends at
 * `from`: it would otherwise read on to the oldest failure.
 */
export function hasFailed(
  { engine }: Pick<Database, 'engine'>,
  { httpStatus, error, isFailure }: FailureFilter & { readonly isFailure?: boolean },
  { from }: { readonly from?: number | undefined } = {},
): RawBuilder<SqlBool> {
  if ((httpStatus ?? error) === undefined && !isFailure) return sql<SqlBool>`1 = 1`
  const find = sql.raw(engine === 'sqlite' ? 'instr' : 'strpos')
  const conditions = [
    sql`deliveries.last_error is not null`,
    ...(httpStatus === undefined ? [] : [sql`deliveries.last_status = ${httpStatus}`]),
    ...(error === undefined || from === undefined ? [] : [sql`deliveries.created_at >= ${from}`]),
    ...(error === undefined ? [] : [sql`${find}(lower(deliveries.last_error), ${error.toLowerCase()}) > 0`]),
  ]
  return sql<SqlBool>`${sql.join(conditions, sql` and `)}`
}

/** The same rule for a row that has been read. */
export function matchesFailure(
  { last_status, last_error }: Pick<DeliveryRow, 'last_status' | 'last_error'>,
  filter: FailureFilter,
): boolean {
  const { httpStatus, error } = filter
  if (!isFailureFilter(filter)) return true
  if (last_error === null || (httpStatus !== undefined && last_status !== httpStatus)) return false
  return error === undefined || last_error.toLowerCase().includes(error.toLowerCase())
}
