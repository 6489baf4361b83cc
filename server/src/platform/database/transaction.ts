import {
  type CompiledQuery,
  type ConnectionProvider,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  type QueryResult,
} from 'kysely'

/** See `Transaction.sendWithCommit`. */
interface LastStatements {
  sendWithCommit(answers: Promise<unknown>): void
}

/**
 * The connection of an open transaction. Statements are sent at once, without waiting for earlier answers; the engine runs
 * them in order. The first one that fails loses the transaction: later ones fail with the same error.
 */
class TransactionConnection implements ConnectionProvider, DatabaseConnection, LastStatements {
  readonly #connection: DatabaseConnection
  readonly #unanswered = new Set<Promise<unknown>>()
  readonly #sentWithCommit: Promise<unknown>[] = []
  #firstError: unknown
  #isOver = false

  constructor(connection: DatabaseConnection) {
    this.#connection = connection
  }

  provideConnection<T>(consumer: (connection: DatabaseConnection) => Promise<T>): Promise<T> {
    return consumer(this)
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    if (this.#isOver) throw new Error('The transaction is over.')
    // A driver would refuse the statement without sending it, and a commit behind it would succeed.
    if (query.parameters.includes(undefined))
      this.#firstError ??= new Error(`A parameter is undefined: ${query.sql}`)
    if (this.#firstError) throw this.#firstError
    return this.track(this.#connection.executeQuery<Row>(query))
  }

  /** Several answers may arrive together, and then a later error may reach the caller before the one that caused it. */
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
    // An error before the first statement is kept here, in time for `finish`.
    answers.catch((error) => {
      this.#firstError ??= error
    })
    this.#sentWithCommit.push(answers)
  }

  /** Takes no more statements and commits. Throws if a statement has failed, even if its error was caught. */
  async finish(commit: () => Promise<void>): Promise<void> {
    if (this.#sentWithCommit.length === 0) await this.#settle()
    this.#isOver = true
    if (this.#firstError) {
      // In the order in which they were sent, so that the first error is thrown as its sender translates it.
      for (const answers of this.#sentWithCommit) await answers
      throw this.#firstError
    }
    this.track(commit()).catch(() => undefined)
    for (const answers of this.#sentWithCommit) await answers
    await this.#settle()
  }

  /** Waits for every answer, or for the first error. */
  async #settle(): Promise<void> {
    while (this.#unanswered.size > 0 && !this.#firstError)
      await Promise.all(this.#unanswered).catch(() => undefined)
    if (this.#firstError) throw this.#firstError
  }

  /** Takes no more statements: behind the rollback they would run on their own. */
  abandon(): void {
    this.#isOver = true
  }

  // biome-ignore lint/correctness/useYield: nothing here streams, and silence would hide that
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error('Streaming is not offered, since SQLite cannot; page instead.')
  }
}

/**
 * Kysely whose transactions can have several statements on their way. Kysely's own `transaction()` sends a statement only
 * after the answer to the one before, one round trip each.
 */
export class PipelinedKysely {
  readonly kysely: Kysely<never>
  readonly #dialect: Dialect
  readonly #driver: Driver

  constructor(dialect: Dialect) {
    const driver = dialect.createDriver()
    this.#driver = driver
    this.#dialect = {
      createDriver: () => driver,
      createAdapter: () => dialect.createAdapter(),
      createIntrospector: (db) => dialect.createIntrospector(db),
      createQueryCompiler: () => dialect.createQueryCompiler(),
    }
    this.kysely = new Kysely({ dialect: this.#dialect })
  }

  /** `begin` travels with the first statement; `commit` is sent once every answer is known, or with the last statements. */
  transaction<T>(work: (kysely: Kysely<never>, statements: LastStatements) => Promise<T>): Promise<T> {
    return this.kysely.getExecutor().provideConnection(async (connection) => {
      const statements = new TransactionConnection(connection)
      statements.track(this.#driver.beginTransaction(connection, {})).catch(() => undefined)
      try {
        const result = await work(this.#kyselyOn(statements), statements)
        await statements.finish(() => this.#driver.commitTransaction(connection))
        return result
      } catch (error) {
        statements.abandon()
        // Its own error must not hide the one that matters.
        await this.#driver.rollbackTransaction(connection).catch(() => undefined)
        throw error
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
