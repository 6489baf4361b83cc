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
import { NO_TIMEOUT_MS, QUERY_TIMEOUT_MS } from '../deadline.ts'
import type { Mutex } from '../mutex.ts'
import type { SqliteConnection } from './connection.ts'
import type { QueryReply } from './thread.ts'

/** A small buffer is a window into a pool, and a message would carry the whole pool, 8 KB for each digest. */
const alone = (value: unknown): unknown =>
  value instanceof Uint8Array && value.byteLength < value.buffer.byteLength ? new Uint8Array(value) : value

function named<Row>(columns: readonly string[], values: readonly unknown[]): Row {
  const row: Record<string, unknown> = {}
  for (let i = 0; i < columns.length; i++) row[columns[i]!] = values[i]
  return row as Row
}

/** With the wait for a lock of another process (5 s) still within seconds; more than that many transactions take. */
export const TURN_WITHIN_MS = 4_000

class Connection implements DatabaseConnection {
  readonly #thread: SqliteConnection
  readonly #timeoutMs: number
  inTransaction = false
  /** The first error since `begin`. On PostgreSQL it loses the transaction, so it does here, too. */
  lost: unknown

  constructor(thread: SqliteConnection, timeoutMs: number) {
    this.#thread = thread
    this.#timeoutMs = timeoutMs
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
    return this.#thread.send({ kind: 'begin' }, this.#timeoutMs)
  }

  async run<Row>(sql: string, parameters: readonly unknown[] = []): Promise<QueryResult<Row>> {
    const { columns, rows, changes } = await this.#thread.send<QueryReply>(
      { kind: 'query', sql, parameters: parameters.map(alone) as never },
      this.#timeoutMs,
    )
    return { rows: rows.map((values) => named<Row>(columns, values)), numAffectedRows: BigInt(changes) }
  }

  // biome-ignore lint/correctness/useYield: nothing here streams, and silence would hide that
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error('Streaming is not possible across the SQLite thread; page instead.')
  }
}

/** Turns are taken at our own mutex, which has a deadline; Kysely's has none, and is never free again after a failure. */
class TurnsElsewhere extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true
  }
}

interface DialectOptions {
  readonly mutex?: Mutex
  readonly noTimeout?: boolean
}

/** With a mutex it is the writer, whose transactions take turns; without one it is the reader. */
class ThreadDriver implements Driver {
  readonly #connection: Connection
  readonly #mutex: Mutex | undefined
  readonly #noTimeout: boolean

  constructor(thread: SqliteConnection, { mutex, noTimeout = false }: DialectOptions) {
    this.#connection = new Connection(thread, noTimeout ? NO_TIMEOUT_MS : QUERY_TIMEOUT_MS)
    this.#mutex = mutex
    this.#noTimeout = noTimeout
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    await this.#mutex?.acquire(this.#noTimeout ? NO_TIMEOUT_MS : TURN_WITHIN_MS)
    return this.#connection
  }

  async beginTransaction(): Promise<void> {
    // Immediate: the lock is taken now, where waiting is possible, and not at the first write, where it is not.
    try {
      await this.#connection.begin()
    } catch (error) {
      this.#rollBack()
      throw error
    }
    this.#connection.inTransaction = true
  }

  async commitTransaction(): Promise<void> {
    if (this.#connection.lost) throw this.#connection.lost
    await this.#connection.run('commit')
  }

  async rollbackTransaction(): Promise<void> {
    this.#rollBack()
  }

  /**
   * Not waited for: the thread takes messages in their order, so it comes before whatever is begun next, and a thread that
   * hangs would keep the caller. SQLite ends some transactions by itself (disk full); then there is nothing to roll back.
   */
  #rollBack(): void {
    void this.#connection.run('rollback').catch(() => undefined)
  }

  async releaseConnection(): Promise<void> {
    this.#connection.inTransaction = false
    this.#connection.lost = undefined
    this.#mutex?.release()
  }

  async destroy(): Promise<void> {}
}

export const sqliteDialect = (thread: SqliteConnection, options: DialectOptions = {}): Dialect => ({
  createDriver: () => new ThreadDriver(thread, options),
  createAdapter: () => new TurnsElsewhere(),
  createIntrospector: (db) => new SqliteIntrospector(db),
  createQueryCompiler: () => new SqliteQueryCompiler(),
})
