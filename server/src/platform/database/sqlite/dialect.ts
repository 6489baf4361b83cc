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
import { PATIENT_MS, SILENCE_MS } from '../deadline.ts'
import type { Mutex } from '../mutex.ts'
import type { SqliteConnection } from './worker-connection.ts'
import type { QueryReply } from './worker-thread.ts'

/** Copies a view into a larger buffer: a message would carry the whole buffer, 8 KB for each digest. */
const copyView = (value: unknown): unknown =>
  value instanceof Uint8Array && value.byteLength < value.buffer.byteLength ? new Uint8Array(value) : value

function toRowObject<Row>(columns: readonly string[], values: readonly unknown[]): Row {
  const row: Record<string, unknown> = {}
  for (let i = 0; i < columns.length; i++) row[columns[i]!] = values[i]
  return row as Row
}

/** Together with the wait for another process's lock (5 s) a caller still gets its 503 within seconds. */
export const WRITER_LOCK_TIMEOUT_MS = 4_000

class Connection implements DatabaseConnection {
  readonly #thread: SqliteConnection
  readonly #silenceMs: number
  inTransaction = false
  /** The first error since `begin`. It loses the transaction, as on PostgreSQL. */
  lost: unknown

  constructor(thread: SqliteConnection, silenceMs: number) {
    this.#thread = thread
    this.#silenceMs = silenceMs
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
    return this.#thread.send({ kind: 'begin' }, this.#silenceMs)
  }

  async run<Row>(sql: string, parameters: readonly unknown[] = []): Promise<QueryResult<Row>> {
    const { columns, rows, changes } = await this.#thread.send<QueryReply>(
      { kind: 'query', sql, parameters: parameters.map(copyView) as never },
      this.#silenceMs,
    )
    return { rows: rows.map((values) => toRowObject<Row>(columns, values)), numAffectedRows: BigInt(changes) }
  }

  // biome-ignore lint/correctness/useYield: nothing here streams, and silence would hide that
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error('Streaming is not possible across the SQLite thread; page instead.')
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
  readonly patient?: boolean
}

/** With a mutex it is the writer, which runs one transaction at a time; without one it is the reader. */
class ThreadDriver implements Driver {
  readonly #connection: Connection
  readonly #mutex: Mutex | undefined
  readonly #patient: boolean

  constructor(thread: SqliteConnection, { mutex, patient = false }: DialectOptions) {
    this.#connection = new Connection(thread, patient ? PATIENT_MS : SILENCE_MS)
    this.#mutex = mutex
    this.#patient = patient
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    await this.#mutex?.acquire(this.#patient ? PATIENT_MS : WRITER_LOCK_TIMEOUT_MS)
    return this.#connection
  }

  async beginTransaction(): Promise<void> {
    // Immediate: it takes the write lock now, where waiting is possible, and not at the first write, where it is not.
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
   * Not awaited: the thread takes messages in order, so it runs before the next transaction, and a thread that hangs
   * would block the caller. SQLite ends some transactions by itself (disk full); then there is nothing to roll back.
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
  createAdapter: () => new AdapterWithoutMutex(),
  createIntrospector: (db) => new SqliteIntrospector(db),
  createQueryCompiler: () => new SqliteQueryCompiler(),
})
