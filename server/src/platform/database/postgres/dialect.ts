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
import { NO_TIMEOUT_MS, QUERY_TIMEOUT_MS } from '../deadline.ts'
import type { Connection } from './connection.ts'
import type { ConnectionPool } from './connection-pool.ts'

const COUNTED = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE'])

class LentConnection implements DatabaseConnection {
  readonly lent: Connection
  readonly #timeoutMs: number
  /** The first error since `begin`. PostgreSQL then turns `commit` into a rollback and reports success. */
  lost: unknown

  constructor(lent: Connection, timeoutMs: number) {
    this.lent = lent
    this.#timeoutMs = timeoutMs
  }

  async executeQuery<Row>({
    sql,
    parameters,
  }: Pick<CompiledQuery, 'sql' | 'parameters'>): Promise<QueryResult<Row>> {
    try {
      const rows = await this.lent.query(sql, parameters, this.#timeoutMs)
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
}

class PoolDriver implements Driver {
  readonly #pool: ConnectionPool
  readonly #timeoutMs: number

  constructor(pool: ConnectionPool, timeoutMs: number) {
    this.#pool = pool
    this.#timeoutMs = timeoutMs
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<LentConnection> {
    return new LentConnection(await this.#pool.acquire(), this.#timeoutMs)
  }

  async beginTransaction(connection: LentConnection): Promise<void> {
    await connection.executeQuery({ sql: 'begin', parameters: [] })
  }

  async commitTransaction(connection: LentConnection): Promise<void> {
    if (connection.lost) throw connection.lost
    await connection.executeQuery({ sql: 'commit', parameters: [] })
  }

  async rollbackTransaction(connection: LentConnection): Promise<void> {
    // A connection that is gone has rolled back by itself; its error must not hide the one that matters.
    await connection.executeQuery({ sql: 'rollback', parameters: [] }).catch(() => connection.lent.close())
  }

  async releaseConnection(connection: LentConnection): Promise<void> {
    this.#pool.release(connection.lent)
  }

  async destroy(): Promise<void> {}
}

export const poolDialect = (pool: ConnectionPool, { noTimeout = false } = {}): Dialect => ({
  createDriver: () => new PoolDriver(pool, noTimeout ? NO_TIMEOUT_MS : QUERY_TIMEOUT_MS) as Driver,
  createAdapter: () => new PostgresAdapter(),
  createIntrospector: (db) => new PostgresIntrospector(db),
  createQueryCompiler: () => new PostgresQueryCompiler(),
})
