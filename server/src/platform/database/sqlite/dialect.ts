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
import type { QueryReply, ThreadRequest } from './thread.ts'
import type { SqliteConnection } from './thread-connection.ts'

/** Copies a view of a larger buffer: a message would contain the whole buffer, 8 KB for each digest. */
const copyView = (value: unknown): unknown =>
  value instanceof Uint8Array && value.byteLength < value.buffer.byteLength ? new Uint8Array(value) : value

function toRowObject<Row>(columns: readonly string[], values: readonly unknown[]): Row {
  const row: Record<string, unknown> = {}
  for (let i = 0; i < columns.length; i++) row[columns[i]!] = values[i]
  return row as Row
}

/** Together with the wait for another process's lock (5 s), a caller still gets 503 within seconds. */
export const WRITER_LOCK_TIMEOUT_MS = 4_000

/** The use of a thread between its acquisition and its release. */
class ThreadConnection implements DatabaseConnection {
  readonly #thread: SqliteConnection
  readonly #timeoutMs: number
  /** Whether the commit is on its way: then the next transaction may be sent behind it. */
  isCommitSent = false

  constructor(thread: SqliteConnection, timeoutMs: number) {
    this.#thread = thread
    this.#timeoutMs = timeoutMs
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const query = { kind: 'query', sql, parameters: parameters.map(copyView) as never } as const
    const { columns, rows, changes } = await this.send<QueryReply>(query)
    return { rows: rows.map((values) => toRowObject<Row>(columns, values)), numAffectedRows: BigInt(changes) }
  }

  send<T>(request: ThreadRequest): Promise<T> {
    return this.#thread.send(request, this.#timeoutMs)
  }

  // biome-ignore lint/correctness/useYield: streaming is not supported
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error('Streaming is not supported across the SQLite thread. Use pages instead.')
  }
}

/** Uses our own mutex, which has a timeout: Kysely's has none and stays locked after a failure. */
class AdapterWithoutMutex extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true
  }
}

interface DialectOptions {
  readonly mutex?: Mutex
  readonly noTimeout?: boolean
}

/** With a mutex, the writer, which runs one transaction at a time; without one, the reader. */
class ThreadDriver implements Driver {
  readonly #thread: SqliteConnection
  readonly #options: DialectOptions

  constructor(thread: SqliteConnection, options: DialectOptions) {
    this.#thread = thread
    this.#options = options
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<ThreadConnection> {
    const { mutex, noTimeout = false } = this.#options
    await mutex?.acquire(noTimeout ? NO_TIMEOUT_MS : WRITER_LOCK_TIMEOUT_MS)
    return new ThreadConnection(this.#thread, noTimeout ? NO_TIMEOUT_MS : QUERY_TIMEOUT_MS)
  }

  beginTransaction(connection: ThreadConnection): Promise<void> {
    return connection.send({ kind: 'begin' })
  }

  /** Lets the next transaction be sent while the disk is busy with this one: the thread runs them in order. */
  commitTransaction(connection: ThreadConnection): Promise<void> {
    const committed = connection.send<void>({ kind: 'commit' })
    connection.isCommitSent = true
    this.#options.mutex?.release()
    return committed
  }

  /**
   * Not awaited: the thread processes requests in order, so the rollback runs before the next transaction. Awaiting a thread
   * that hangs would block the caller. A commit that fails rolls back by itself.
   */
  async rollbackTransaction(connection: ThreadConnection): Promise<void> {
    if (connection.isCommitSent) return
    connection.send({ kind: 'rollback' }).catch(() => undefined)
  }

  async releaseConnection(connection: ThreadConnection): Promise<void> {
    if (!connection.isCommitSent) this.#options.mutex?.release()
  }

  async destroy(): Promise<void> {}
}

export const sqliteDialect = (thread: SqliteConnection, options: DialectOptions = {}): Dialect => ({
  createDriver: () => new ThreadDriver(thread, options),
  createAdapter: () => new AdapterWithoutMutex(),
  createIntrospector: (db) => new SqliteIntrospector(db),
  createQueryCompiler: () => new SqliteQueryCompiler(),
})
