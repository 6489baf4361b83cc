import { setTimeout } from 'node:timers/promises'
import { type Kysely, sql as raw } from 'kysely'
import type { PostgresDatabase, Reader, Transaction } from '../database.ts'
import { PipelinedKysely } from '../transaction.ts'
import { Connection } from './connection.ts'
import { ConnectionPool } from './connection-pool.ts'
import { poolDialect } from './dialect.ts'
import { isWorthRepeating } from './errors.ts'
import { Hosts } from './hosts.ts'
import { SharedConnection } from './shared-connection.ts'
import { CHANNEL, createWakes } from './wakes.ts'

const RETRIES = 3
/** Lets the transaction that won a deadlock take its lock first: a repeat at once could meet it again. */
const RETRY_DELAY_MS = 50
/** Closing waits no longer than this for what is under way: supervisors kill after ten seconds. */
const CLOSE_WITHIN_MS = 5_000

/** `db1:5432,db2:5432/jeton`, without user and password. */
const hostsOf = (url: string): string => url.replace(/^postgres(ql)?:\/\/([^/]*@)?/, '').replace(/\?.*$/, '')

async function storeTime(kysely: Kysely<never>): Promise<number> {
  const { rows } = await raw<{ now: number }>`select jeton_now() as now`.execute(kysely)
  return rows[0]!.now
}

function transactionOn(kysely: Kysely<never>, statements: Pick<Transaction, 'sendWithCommit'>): Transaction {
  return {
    read: () => kysely,
    write: () => kysely,
    lock: (query: { forUpdate(): unknown }) => query.forUpdate(),
    claim: (query: { forUpdate(): { skipLocked(): unknown } }) => query.forUpdate().skipLocked(),
    now: () => storeTime(kysely),
    sendWithCommit: (answers: Promise<unknown>) => statements.sendWithCommit(answers),
    wake: async (topic: string) => void (await raw`select pg_notify(${CHANNEL}, ${topic})`.execute(kysely)),
  } as never as Transaction
}

async function readSnapshot<T>(kysely: Kysely<never>, work: (reader: Reader) => Promise<T>): Promise<T> {
  await raw`begin isolation level repeatable read read only`.execute(kysely)
  try {
    for (const timeout of ['statement_timeout', 'idle_in_transaction_session_timeout'])
      await raw`set local ${raw.ref(timeout)} = 0`.execute(kysely)
    return await work({ read: () => kysely as never })
  } finally {
    await raw`rollback`.execute(kysely).catch(() => undefined)
  }
}

export async function openPostgres(url: string, poolSize: number): Promise<PostgresDatabase> {
  const hosts = new Hosts(url)
  const pool = new ConnectionPool(() => new Connection(hosts), poolSize)
  const shared = new SharedConnection(pool)
  const pipelined = new PipelinedKysely(poolDialect(pool))
  const patient = new PipelinedKysely(poolDialect(pool, { patient: true }))
  const { kysely } = pipelined
  const wakes = createWakes(hosts)

  async function attempt<T>(
    work: (tx: Transaction) => Promise<T>,
    on: PipelinedKysely,
    retries = RETRIES,
  ): Promise<T> {
    try {
      return await on.transaction((tx, statements) => work(transactionOn(tx, statements)))
    } catch (error) {
      if (retries === 0 || !isWorthRepeating(error)) throw error
      await setTimeout(RETRY_DELAY_MS * (0.5 + Math.random()))
      return attempt(work, on, retries - 1)
    }
  }

  return {
    engine: 'postgres',
    label: `PostgreSQL ${hostsOf(url)}`,
    read: () => kysely as never,
    now: () => storeTime(kysely),
    transaction: (work, options) => attempt(work, options?.patient ? patient : pipelined),
    snapshot: (work) => patient.kysely.connection().execute((one) => readSnapshot(one as never, work)),
    runSql: (work, options) => (options?.shared ? shared : pool).lend(work),
    onWake: wakes.on,
    async close() {
      wakes.close()
      await pool.close(CLOSE_WITHIN_MS)
    },
  }
}
