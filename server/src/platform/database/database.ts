import type { Kysely, SelectQueryBuilder } from 'kysely'
import type { ReadonlyKysely } from 'kysely/readonly'

/** The database itself, or an open transaction. */
export interface Reader {
  read<Tables>(): ReadonlyKysely<Tables>
}

declare const onlyMadeByTheDatabase: unique symbol

/**
 * Proof that a transaction is open. Only `Database.transaction` creates one. Functions that must be atomic take it as an
 * argument, so that code without a transaction does not compile.
 */
export interface Transaction extends Reader {
  readonly [onlyMadeByTheDatabase]: true
  write<Tables>(): Kysely<Tables>
  /** Locks the selected rows until the end. On SQLite the transaction already excludes every other writer. */
  lock<Tables, Table extends keyof Tables, Row>(
    query: SelectQueryBuilder<Tables, Table, Row>,
  ): SelectQueryBuilder<Tables, Table, Row>
  /** Keeps the selected rows from being deleted until the end. Other transactions may do the same, or change them. */
  lockShared<Tables, Table extends keyof Tables, Row>(
    query: SelectQueryBuilder<Tables, Table, Row>,
  ): SelectQueryBuilder<Tables, Table, Row>
  /** Like `lock`, but skips rows that another transaction has locked: workers share a queue this way. */
  claim<Tables, Table extends keyof Tables, Row>(
    query: SelectQueryBuilder<Tables, Table, Row>,
  ): SelectQueryBuilder<Tables, Table, Row>
  /** Store time in epoch milliseconds: one clock for all processes on one PostgreSQL. */
  now(): Promise<number>
  /**
   * Lets the commit be sent right behind statements whose results are not known yet. `answers` may reject only because one
   * of them has failed: then nothing is committed, and the transaction throws that error. An update that changes no row is
   * not a failure: to prevent the commit it must violate a constraint.
   */
  sendWithCommit(answers: Promise<unknown>): void
  /** Notifies the subscribers of a topic once this transaction has committed, and never after a rollback. */
  notify(topic: string): Promise<void>
}

/** Guarantees of both engines, tested by `conformance.test.ts`. */
interface Engine extends Reader {
  /** Display name: `SQLite ./data/jeton.db`, `PostgreSQL db1:5432/jeton`. Never contains a password. */
  readonly label: string
  /**
   * Runs `work` in one transaction (PostgreSQL: READ COMMITTED) and commits, or rolls back if it throws. After a
   * deadlock the work runs again, so it must change nothing outside the transaction. A statement that fails rolls the
   * transaction back, even if the work catches the error. `noTimeout` removes the statement timeout, for migrations.
   * If `signal` aborts before the commit is sent, the transaction is rolled back and throws the reason. PostgreSQL cancels
   * the running statement; SQLite finishes it.
   */
  transaction<T>(
    work: (tx: Transaction) => Promise<T>,
    options?: { readonly noTimeout?: boolean; readonly signal?: AbortSignal | undefined },
  ): Promise<T>
  /**
   * Reads one consistent snapshot, regardless of how long `work` takes. For backups: no timeout, and its own connection.
   * `signal` cancels the running statement on PostgreSQL; between statements the work itself must stop.
   */
  snapshot<T>(work: (reader: Reader) => Promise<T>, signal?: AbortSignal): Promise<T>
  now(): Promise<number>
  /**
   * Calls back after each commit that notified the topic. Best effort: on SQLite only the processes of one service are
   * connected, and a PostgreSQL connection that was cut misses some. Subscribers must poll as well.
   */
  subscribe(topic: string, listener: () => void): () => void
  close(): Promise<void>
}

/** Carries notifications between processes that share a SQLite file. */
export interface NotificationRelay {
  send(topic: string): void
  onReceived(listener: (topic: string) => void): void
}

export interface SqliteDatabase extends Engine {
  readonly engine: 'sqlite'
  /**
   * Runs a writer-thread procedure, the exported `run` of a module, in its own transaction: one message each way, so that
   * the thread never waits for the event loop between two statements.
   */
  runInWriter<Input, Output>(module: URL, input: Input): Promise<Output>
}

/** One PostgreSQL connection, for batches that the query builder would slow down. */
export interface SqlConnection {
  /** Runs one statement. Several may be in flight: they run in order, and a failure fails the rest of the transaction. */
  query<Row = Record<string, unknown>>(text: string, parameters?: readonly unknown[]): Promise<readonly Row[]>
}

export interface PostgresDatabase extends Engine {
  readonly engine: 'postgres'
  /**
   * Runs `work` on one connection, with the timeouts and errors of every other query. A shared connection serves several
   * callers at the same time, so each of them must send every transaction as a whole.
   */
  withConnection<T>(
    work: (connection: SqlConnection) => Promise<T>,
    options?: { shared?: boolean },
  ): Promise<T>
}

export type Database = SqliteDatabase | PostgresDatabase

export { StoreNotWritable, StoreUnavailable } from '../store-unavailable.ts'

/** A required column would have been set to NULL. */
export class NotNullViolation extends Error {
  override readonly name = 'NotNullViolation'
}

/** A unique index refused a row. PostgreSQL aborts the transaction, so it is rolled back on both engines. */
export class UniqueConflict extends Error {
  override readonly name = 'UniqueConflict'
}
