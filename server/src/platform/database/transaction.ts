import {
  type CompiledQuery,
  type ConnectionProvider,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  type Logger,
  type QueryResult,
} from 'kysely'

/** See `Transaction.sendWithCommit`. */
interface LastStatements {
  sendWithCommit(answers: Promise<unknown>): void
}

/**
 * The connection of an open transaction. Statements are sent without waiting for earlier results, and the engine runs them
 * in order. The first failure aborts the transaction: later statements fail with the same error.
 */
class TransactionConnection implements ConnectionProvider, DatabaseConnection, LastStatements {
  readonly #connection: DatabaseConnection
  readonly #unanswered = new Set<Promise<unknown>>()
  readonly #sentWithCommit: Promise<unknown>[] = []
  readonly #signal: AbortSignal | undefined
  #firstError: unknown
  #isOver = false
  /** From here on, only the engine knows whether the transaction is kept. */
  isCommitSent = false

  constructor(connection: DatabaseConnection, signal: AbortSignal | undefined) {
    this.#connection = connection
    this.#signal = signal
  }

  provideConnection<T>(consumer: (connection: DatabaseConnection) => Promise<T>): Promise<T> {
    return consumer(this)
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    if (this.#isOver) throw new Error('The transaction has ended.')
    // A driver would refuse the statement without sending it, and the commit behind it would succeed.
    if (query.parameters.includes(undefined))
      this.#firstError ??= new Error(`A parameter is undefined: ${query.sql}`)
    if (this.#signal?.aborted) this.#firstError ??= this.#signal.reason
    if (this.#firstError) throw this.#firstError
    return this.track(this.#connection.executeQuery<Row>(query))
  }

  /** If several results arrive together, a later error may reach the caller before its cause. */
  async track<T>(answer: Promise<T>): Promise<T> {
    this.#unanswered.add(answer)
    try {
      return await answer
    } catch (error) {
      this.#firstError ??= error
      throw this.#firstError
    } finally {
      this.#unanswered.delete(answer)
    }
  }

  sendWithCommit(answers: Promise<unknown>): void {
    // Keeps an error from before the first statement for `finish`.
    answers.catch((error) => {
      this.#firstError ??= error
    })
    this.#sentWithCommit.push(answers)
  }

  /** Accepts no more statements and commits. Throws if a statement has failed, even if its error was caught. */
  async finish(commit: () => Promise<void>): Promise<void> {
    if (this.#sentWithCommit.length === 0) await this.#settle()
    this.#isOver = true
    if (this.#firstError) {
      // In the order in which they were sent, so that the first error is thrown as its sender translates it.
      for (const answers of this.#sentWithCommit) await answers
      throw this.#firstError
    }
    this.#signal?.throwIfAborted()
    this.isCommitSent = true
    this.track(commit()).catch(() => undefined)
    for (const answers of this.#sentWithCommit) await answers
    await this.#settle()
  }

  /** Waits for all results, or for the first error. */
  async #settle(): Promise<void> {
    while (this.#unanswered.size > 0 && !this.#firstError)
      await Promise.all(this.#unanswered).catch(() => undefined)
    if (this.#firstError) throw this.#firstError
  }

  /** Accepts no more statements, because after the rollback they would run on their own. */
  abandon(): void {
    this.#isOver = true
  }

  // biome-ignore lint/correctness/useYield: streaming is not supported
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error('Streaming is not supported, because SQLite cannot stream. Use pages instead.')
  }
}

/**
 * Kysely with pipelined transactions: several statements can be in flight. Kysely's own `transaction()` sends a statement
 * only after the result of the previous one, one round trip each.
 */
export class PipelinedKysely {
  readonly kysely: Kysely<never>
  readonly #dialect: Dialect
  readonly #driver: Driver

  constructor(dialect: Dialect, onQuery?: Logger) {
    const driver = dialect.createDriver()
    this.#driver = driver
    this.#dialect = {
      createDriver: () => driver,
      createAdapter: () => dialect.createAdapter(),
      createIntrospector: (db) => dialect.createIntrospector(db),
      createQueryCompiler: () => dialect.createQueryCompiler(),
    }
    this.kysely = new Kysely({ dialect: this.#dialect, ...(onQuery && { log: onQuery }) })
  }

  /** `begin` is sent with the first statement, `commit` after all results or with the last statements. */
  transaction<T>(
    work: (kysely: Kysely<never>, statements: LastStatements) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    return this.kysely.getExecutor().provideConnection(async (connection) => {
      const statements = new TransactionConnection(connection, signal)
      statements.track(this.#driver.beginTransaction(connection, {})).catch(() => undefined)
      try {
        const result = await work(this.#kyselyOn(statements), statements)
        await statements.finish(() => this.#driver.commitTransaction(connection))
        return result
      } catch (error) {
        statements.abandon()
        // An error of the rollback must not hide the original error.
        await this.#driver.rollbackTransaction(connection).catch(() => undefined)
        throw signal?.aborted && !statements.isCommitSent ? signal.reason : error
      }
    })
  }

  #kyselyOn(provider: ConnectionProvider): Kysely<never> {
    const executor = this.kysely.getExecutor().withConnectionProvider(provider)
    return new Kysely({
      config: { dialect: this.#dialect },
      dialect: this.#dialect,
      driver: this.#driver,
      executor,
    })
  }
}
