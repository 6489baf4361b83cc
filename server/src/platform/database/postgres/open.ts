import { setImmediate as nextTurn, setTimeout } from 'node:timers/promises'
import { type Kysely, type Logger, PostgresDialect, type PostgresPoolClient, sql } from 'kysely'
import type { QueryResult } from 'pg'
import type { PostgresDatabase, Reader, SqlConnection, Transaction } from '../database.ts'
import { NO_TIMEOUT_MS, QUERY_TIMEOUT_MS } from '../deadline.ts'
import { PipelinedKysely } from '../transaction.ts'
import { isInLostTransaction, isWorthRepeating } from './errors.ts'
import { Hosts } from './hosts.ts'
import { CHANNEL, Notifications } from './notifications.ts'
import type { Connection } from './prepared-statements.ts'
import { HostClient, PrimaryPool } from './primary-pool.ts'

type Result = Pick<QueryResult, 'command' | 'rowCount' | 'rows'>

const RETRIES = 3
/** Lets the transaction that won a deadlock take its lock first: an immediate retry could deadlock again. */
const RETRY_DELAY_MS = 50
/** Maximum wait for transactions in progress when closing: process supervisors kill after ten seconds. */
const CLOSE_WITHIN_MS = 5_000

/** `db1:5432,db2:5432/jeton`, without user and password. */
const hostsOf = (url: string): string => url.replace(/^postgres(ql)?:\/\/([^/]*@)?/, '').replace(/\?.*$/, '')

/** A connection for Kysely. All statements of an aborted transaction fail with the error that aborted it. */
class KyselyClient {
  readonly #connection: Connection
  #cause: unknown
  #isDiscarded = false

  constructor(connection: Connection) {
    this.#connection = connection
  }

  async query(text: string, parameters: readonly unknown[]): Promise<Result> {
    const result = await this.#connection.query(text, parameters).catch((error) => this.#fail(text, error))
    // PostgreSQL answers the commit of an aborted transaction with a rollback.
    if (text === 'commit' && result.command === 'ROLLBACK')
      throw (await this.#causeOfLoss()) ?? new Error('PostgreSQL rolled the transaction back.')
    return result
  }

  release(): void {
    this.#connection.release(this.#isDiscarded)
  }

  async #fail(text: string, error: unknown): Promise<Result> {
    if (text === 'rollback') {
      // The server has rolled back, or will. This error must not hide the earlier one.
      this.#isDiscarded = true
      return { command: 'ROLLBACK', rowCount: 0, rows: [] }
    }
    if (isInLostTransaction(error)) throw (await this.#causeOfLoss()) ?? error
    this.#cause ??= error
    throw error
  }

  /** Results that arrive together may be handled in another order, so this waits for one turn of the event loop. */
  async #causeOfLoss(): Promise<unknown> {
    await nextTurn()
    return this.#cause
  }
}

const kyselyOn = (pool: PrimaryPool, timeoutMs: number, onQuery?: Logger): PipelinedKysely =>
  new PipelinedKysely(
    new PostgresDialect({
      pool: {
        connect: async () => new KyselyClient(await pool.acquire(timeoutMs)) as unknown as PostgresPoolClient,
        end: async () => undefined,
        options: {},
      },
    }),
    onQuery,
  )

async function storeTime(kysely: Kysely<never>): Promise<number> {
  const { rows } = await sql<{ now: number }>`select jeton_now() as now`.execute(kysely)
  return rows[0]!.now
}

function transactionOn(kysely: Kysely<never>, statements: Pick<Transaction, 'sendWithCommit'>): Transaction {
  return {
    read: () => kysely,
    write: () => kysely,
    lock: (query: { forUpdate(): unknown }) => query.forUpdate(),
    lockShared: (query: { forKeyShare(): unknown }) => query.forKeyShare(),
    claim: (query: { forUpdate(): { skipLocked(): unknown } }) => query.forUpdate().skipLocked(),
    now: () => storeTime(kysely),
    sendWithCommit: (answers: Promise<unknown>) => statements.sendWithCommit(answers),
    notify: async (topic: string) => void (await sql`select pg_notify(${CHANNEL}, ${topic})`.execute(kysely)),
  } as never as Transaction
}

async function readSnapshot<T>(kysely: Kysely<never>, work: (reader: Reader) => Promise<T>): Promise<T> {
  await sql`begin isolation level repeatable read read only`.execute(kysely)
  try {
    for (const timeout of ['statement_timeout', 'idle_in_transaction_session_timeout'])
      await sql`set local ${sql.ref(timeout)} = 0`.execute(kysely)
    return await work({ read: () => kysely as never })
  } finally {
    await sql`rollback`.execute(kysely)
  }
}

/** Where statements are cancelled, and when. */
interface Canceller {
  readonly hosts: Hosts
  readonly signal: AbortSignal | undefined
}

/**
 * Cancels the statement that runs on this connection when the signal aborts. Otherwise the server would finish it, and keep
 * its locks, even after this process has ended.
 */
async function cancellable<T>(
  kysely: Kysely<never>,
  { hosts, signal }: Canceller,
  work: () => Promise<T>,
): Promise<T> {
  if (!signal) return work()
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(kysely)
  const cancel = () => void cancelStatement(hosts, rows[0]!.pid).catch(() => undefined)
  signal.addEventListener('abort', cancel)
  try {
    return await work()
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}

/** Needs a connection of its own, because all of the pool may be in use. */
async function cancelStatement(hosts: Hosts, pid: number): Promise<void> {
  const client = new HostClient(hosts)
  await client.connect()
  try {
    await client.query('select pg_cancel_backend($1)', [pid])
  } finally {
    await client.end()
  }
}

/** Runs the work again after a deadlock, because nothing of it was kept. */
async function runTransaction<T>(
  pipelined: PipelinedKysely,
  work: (tx: Transaction) => Promise<T>,
  canceller: Canceller,
  retries = RETRIES,
): Promise<T> {
  try {
    return await pipelined.transaction(
      (tx, statements) => cancellable(tx, canceller, () => work(transactionOn(tx, statements))),
      canceller.signal,
    )
  } catch (error) {
    if (retries === 0 || !isWorthRepeating(error)) throw error
    await setTimeout(RETRY_DELAY_MS * (0.5 + Math.random()))
    return runTransaction(pipelined, work, canceller, retries - 1)
  }
}

const sqlOn = (connection: Connection): SqlConnection => ({
  query: async (text, parameters) => (await connection.query(text, parameters)).rows as never,
})

/** `onQuery` is called after each statement. */
export async function openPostgres(
  url: string,
  poolSize: number,
  onQuery?: Logger,
): Promise<PostgresDatabase> {
  const hosts = new Hosts(url)
  const pool = new PrimaryPool(hosts, poolSize)
  const notifications = new Notifications(hosts)
  const pipelined = kyselyOn(pool, QUERY_TIMEOUT_MS, onQuery)
  const withoutTimeout = kyselyOn(pool, NO_TIMEOUT_MS)
  const { kysely } = pipelined
  return {
    engine: 'postgres',
    label: `PostgreSQL ${hostsOf(url)}`,
    read: () => kysely as never,
    now: () => storeTime(kysely),
    transaction: (work, options) =>
      runTransaction(options?.noTimeout ? withoutTimeout : pipelined, work, {
        hosts,
        signal: options?.signal,
      }),
    snapshot: (work, signal) =>
      withoutTimeout.kysely
        .connection()
        .execute((one: Kysely<never>) => cancellable(one, { hosts, signal }, () => readSnapshot(one, work))),
    withConnection(work, options) {
      const run = (connection: Connection) => work(sqlOn(connection))
      return options?.shared ? pool.useShared(run) : pool.use(run)
    },
    subscribe: (topic, listener) => notifications.subscribe(topic, listener),
    async close() {
      notifications.close()
      await pool.close(CLOSE_WITHIN_MS)
    },
  }
}
