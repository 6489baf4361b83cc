import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely'
import type { ReservedSql } from 'postgres'
import { StoreUnavailable } from '../database.ts'
import { translate } from './errors.ts'

/** The server itself gives up after this long (`statement_timeout`), and says so. */
export const STATEMENT_TIMEOUT_MS = 5_000
/** If even that is not heard, nobody is there: callers get their 503 within seconds, whatever the network does. */
export const SILENCE_MS = 7_000
/** For migrations, which take as long as they take: the longest that a timer can wait. */
export const PATIENT_MS = 2 ** 31 - 1

/** Awaits `answer`, but no longer than the silence that is allowed, and translates the driver's errors. */
export async function guarded<T>(answer: PromiseLike<T>, onSilence: () => void, ms = SILENCE_MS): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      onSilence()
      reject(new StoreUnavailable(`PostgreSQL did not answer within ${ms / 1000} s.`))
    }, ms)
  })
  try {
    return await Promise.race([answer, silence])
  } catch (error) {
    throw translate(error)
  } finally {
    clearTimeout(timer)
  }
}

interface Guard {
  reserve(): Promise<ReservedSql>
  /** Called when a statement got no answer at all, not even an error. */
  onHang(): void
  readonly silenceMs: number
}

const COUNTED = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE'])

class GuardedConnection implements DatabaseConnection {
  readonly #sql: ReservedSql
  readonly #guard: Guard
  /** The first error since `begin`. PostgreSQL then turns `commit` into a rollback and reports success. */
  lost: unknown

  constructor(sql: ReservedSql, guard: Guard) {
    this.#sql = sql
    this.#guard = guard
  }

  async executeQuery<Row>(query: Pick<CompiledQuery, 'sql' | 'parameters'>): Promise<QueryResult<Row>> {
    const answer = this.#sql.unsafe(query.sql, [...query.parameters] as never, { prepare: true })
    try {
      const rows = await guarded(answer, this.#guard.onHang, this.#guard.silenceMs)
      const numAffectedRows = COUNTED.has(rows.command) ? BigInt(rows.count) : undefined
      return { numAffectedRows, rows: Array.from(rows) as never }
    } catch (error) {
      this.lost ??= error
      throw error
    }
  }

  // biome-ignore lint/correctness/useYield: nothing here streams, and silence would hide that
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error('Streaming is not offered, since SQLite cannot; page instead.')
  }

  release(): void {
    this.#sql.release()
  }
}

class GuardedDriver implements Driver {
  readonly #guard: Guard

  constructor(guard: Guard) {
    this.#guard = guard
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<GuardedConnection> {
    const reserving = this.#guard.reserve()
    let late = false
    // Waiting for a free connection is not a hang: the pool stays, and a connection that comes too late goes back.
    void reserving.then(
      (sql) => (late ? sql.release() : undefined),
      () => undefined,
    )
    const sql = await guarded(reserving, () => (late = true))
    return new GuardedConnection(sql, this.#guard)
  }

  async beginTransaction(connection: GuardedConnection): Promise<void> {
    await connection.executeQuery({ sql: 'begin', parameters: [] })
  }

  async commitTransaction(connection: GuardedConnection): Promise<void> {
    if (connection.lost) throw connection.lost
    await connection.executeQuery({ sql: 'commit', parameters: [] })
  }

  async rollbackTransaction(connection: GuardedConnection): Promise<void> {
    // A connection that is gone has rolled back by itself; its error must not hide the one that matters.
    await connection.executeQuery({ sql: 'rollback', parameters: [] }).catch(() => undefined)
  }

  async releaseConnection(connection: GuardedConnection): Promise<void> {
    connection.release()
  }

  async destroy(): Promise<void> {}
}

export const guardedDialect = (guard: Guard): Dialect => ({
  createDriver: () => new GuardedDriver(guard) as Driver,
  createAdapter: () => new PostgresAdapter(),
  createIntrospector: (db) => new PostgresIntrospector(db),
  createQueryCompiler: () => new PostgresQueryCompiler(),
})
