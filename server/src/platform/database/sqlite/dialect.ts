import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import type { Mutex } from '../mutex.ts'
import type { SqliteConnection } from './connection.ts'

/** A small buffer is a window into a pool, and a message would carry the whole pool, 8 KB for each digest. */
const alone = (value: unknown): unknown =>
  value instanceof Uint8Array && value.byteLength < value.buffer.byteLength ? new Uint8Array(value) : value

class Connection implements DatabaseConnection {
  readonly #thread: SqliteConnection
  inTransaction = false
  /** The first error since `begin`. On PostgreSQL it loses the transaction, so it does here, too. */
  lost: unknown

  constructor(thread: SqliteConnection) {
    this.#thread = thread
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    if (this.lost) throw this.lost
    try {
      return await this.run(query.sql, query.parameters)
    } catch (error) {
      if (this.inTransaction) this.lost = error
      throw error
    }
  }

  begin(): Promise<void> {
    return this.#thread.send({ kind: 'begin' })
  }

  async run<Row>(sql: string, parameters: readonly unknown[] = []): Promise<QueryResult<Row>> {
    const { rows, changes } = await this.#thread.send<{ rows: Row[]; changes: number }>({
      kind: 'query',
      sql,
      parameters: parameters.map(alone) as never,
    })
    return { rows, numAffectedRows: BigInt(changes) }
  }

  // biome-ignore lint/correctness/useYield: nothing here streams, and silence would hide that
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error('Streaming is not possible across the SQLite thread; page instead.')
  }
}

/** With a mutex it is the writer, whose transactions take turns; without one it is the reader. */
class ThreadDriver implements Driver {
  readonly #connection: Connection
  readonly #mutex: Mutex | undefined

  constructor(thread: SqliteConnection, mutex: Mutex | undefined) {
    this.#connection = new Connection(thread)
    this.#mutex = mutex
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    await this.#mutex?.acquire()
    return this.#connection
  }

  async beginTransaction(): Promise<void> {
    // Immediate: the lock is taken now, where waiting is possible, and not at the first write, where it is not.
    await this.#connection.begin()
    this.#connection.inTransaction = true
  }

  async commitTransaction(): Promise<void> {
    if (this.#connection.lost) throw this.#connection.lost
    await this.#connection.run('commit')
  }

  async rollbackTransaction(): Promise<void> {
    // SQLite ends some transactions by itself (disk full); a second rollback would hide that error behind its own.
    await this.#connection.run('rollback').catch(() => undefined)
  }

  async releaseConnection(): Promise<void> {
    this.#connection.inTransaction = false
    this.#connection.lost = undefined
    this.#mutex?.release()
  }

  async destroy(): Promise<void> {}
}

export const sqliteDialect = (thread: SqliteConnection, mutex?: Mutex): Dialect => ({
  createDriver: () => new ThreadDriver(thread, mutex),
  createAdapter: () => new SqliteAdapter(),
  createIntrospector: (db) => new SqliteIntrospector(db),
  createQueryCompiler: () => new SqliteQueryCompiler(),
})
