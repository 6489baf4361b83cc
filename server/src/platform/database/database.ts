import type { Kysely, SelectQueryBuilder } from 'kysely'
import type { ReadonlyKysely } from 'kysely/readonly'

/** Whatever can be read from: the database itself, or a transaction that is open in it. */
export interface Reader {
  read<Tables>(): ReadonlyKysely<Tables>
}

declare const onlyMadeByTheDatabase: unique symbol

/**
 * Proof that a transaction is open. Only `Database.transaction` makes one, and what must be atomic takes one as an
 * argument, so forgetting it does not compile.
 */
export interface Transaction extends Reader {
  readonly [onlyMadeByTheDatabase]: true
  write<Tables>(): Kysely<Tables>
  /** Holds the selected rows until the end. On SQLite the transaction itself already excludes every other writer. */
  lock<Tables, Table extends keyof Tables, Row>(
    query: SelectQueryBuilder<Tables, Table, Row>,
  ): SelectQueryBuilder<Tables, Table, Row>
  /** Like `lock`, but leaves out rows that another transaction holds: how workers share a queue. */
  claim<Tables, Table extends keyof Tables, Row>(
    query: SelectQueryBuilder<Tables, Table, Row>,
  ): SelectQueryBuilder<Tables, Table, Row>
  /** The store's clock, epoch milliseconds: one clock for all processes of a PostgreSQL. */
  now(): Promise<number>
  /**
   * Lets the commit be sent right behind statements whose answers are not known yet. `answers` may reject only because one
   * of them has failed: then nothing is committed, and the transaction throws that error. An update that changes no row is
   * no failure: it must run into a constraint.
   */
  sendWithCommit(answers: Promise<unknown>): void
  /** Wakes the listeners of a topic once this transaction has committed, and never if it does not. */
  wake(topic: string): Promise<void>
}

/** What both engines promise; `conformance.test.ts` states it as law. */
interface Engine extends Reader {
  /** For people: `SQLite ./data/jeton.db`, `PostgreSQL db1:5432/jeton`. Never a password. */
  readonly label: string
  /**
   * Runs `work` in one transaction (PostgreSQL: READ COMMITTED) and commits, or rolls back if it throws. After a
   * deadlock the work is run again, so it must change nothing outside the transaction. A statement that fails loses the
   * transaction, also where the work catches its error. `patient` lifts the deadline of statements: for migrations.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>, options?: { readonly patient?: boolean }): Promise<T>
  /**
   * Everything as it is at one moment, however long `work` reads and whatever is committed meanwhile. For copies: it has
   * no deadline, and a connection of its own.
   */
  snapshot<T>(work: (reader: Reader) => Promise<T>): Promise<T>
  now(): Promise<number>
  /**
   * Calls back after each commit that woke the topic, as soon as this process hears of it. A hint, never a guarantee:
   * on SQLite only the workers of one service hear each other, and a cut connection misses some. Polling is what guarantees.
   */
  onWake(topic: string, heard: () => void): () => void
  close(): Promise<void>
}

/** Carries wake-ups between processes that share a store which cannot. */
export interface WakeRelay {
  send(topic: string): void
  onHeard(heard: (topic: string) => void): void
}

export interface SqliteDatabase extends Engine {
  readonly engine: 'sqlite'
  /**
   * Runs a writer-thread procedure, the exported `run` of a module, in a transaction of its own: one message each way, so
   * that the thread never waits for the event loop between two statements.
   */
  runInWriter<Input, Output>(module: URL, input: Input): Promise<Output>
}

/** A connection of PostgreSQL, for the one batch that the query builder would slow down. */
export interface SqlConnection {
  /** One statement. Several may be on their way at once: they run in order, and one that fails fails those of its transaction. */
  send<Row = Record<string, unknown>>(text: string, parameters?: readonly unknown[]): Promise<readonly Row[]>
  /** The same, with values as the server writes them, in the order of the columns: what is only passed on need not become a text. */
  sendRaw(text: string, parameters?: readonly unknown[]): Promise<readonly (readonly (Buffer | null)[])[]>
}

export interface PostgresDatabase extends Engine {
  readonly engine: 'postgres'
  /**
   * Lends a connection, under the same deadline and with the same errors as everything else. A shared one is lent to others
   * at the same time: who asks for it sends every transaction as a whole.
   */
  runSql<T>(work: (connection: SqlConnection) => Promise<T>, options?: { shared?: boolean }): Promise<T>
}

export type Database = SqliteDatabase | PostgresDatabase

export { StoreNotWritable, StoreUnavailable } from '../store-unavailable.ts'

/** A column that must have a value was to be set to NULL. */
export class NotNullViolation extends Error {
  override readonly name = 'NotNullViolation'
}

/** A unique index refused a row. The transaction is lost on PostgreSQL, so it is given up on both engines. */
export class UniqueConflict extends Error {
  override readonly name = 'UniqueConflict'
}
