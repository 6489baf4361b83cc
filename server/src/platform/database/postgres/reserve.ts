import type { ReservedSql, Sql } from 'postgres'
import { StoreUnavailable } from '../database.ts'
import { isDisconnect } from './errors.ts'

/** What the driver hands to `onexecute`: its own connection, which tells once when it has closed. */
interface DriverConnection {
  onclose: ((error: unknown) => void) | null
}

const closed = () => new StoreUnavailable('PostgreSQL: the connection was closed.')

/** A query that has failed already, in the shape that the driver's queries have. */
const failed = (error: Error) => {
  const query = Promise.reject(error)
  query.catch(() => undefined)
  return Object.assign(query, { execute: () => query }) as never
}

/**
 * Reserves a connection that knows when it is dead. The driver's own does not: a statement sent after the server has
 * cut the connection ends the whole process (it writes to a socket that is null, outside of any promise), and releasing
 * it puts the dead connection back, or takes the one that was made in its place away from its new holder.
 *
 * Only `unsafe` and `release` are there: the rest of the driver's surface has no such guard.
 */
export async function reserve(sql: Sql): Promise<ReservedSql> {
  const inner = await sql.reserve()
  let connection: DriverConnection | undefined
  let dead = false
  const onexecute = (executing: DriverConnection) => {
    connection = executing
    connection.onclose = () => (dead = true)
    return true
  }
  const unsafe: Sql['unsafe'] = (text, parameters, options) => {
    if (dead) return failed(closed())
    const query = inner.unsafe(text, parameters, { ...options, onexecute } as never)
    // The driver does not tell of every connection that it executes on; then the error does.
    query.catch((error) => (dead ||= isDisconnect(error)))
    return query as never
  }
  const release = () => {
    if (connection) connection.onclose = null
    if (!dead) inner.release()
    dead = true
  }
  return { unsafe, release } as never as ReservedSql
}
