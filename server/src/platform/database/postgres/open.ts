import { Kysely, sql as raw } from 'kysely'
import type { PostgresDatabase, Reader, Transaction } from '../database.ts'
import { Connection } from './connection.ts'
import { ConnectionPool } from './connection-pool.ts'
import { poolDialect } from './dialect.ts'
import { isWorthRepeating } from './errors.ts'
import { Hosts } from './hosts.ts'
import { CHANNEL, createNotifications } from './notifications.ts'
import { SharedConnection } from './shared-connection.ts'

const RETRIES = 3
/** Closing waits no longer than this for what is under way: supervisors kill after ten seconds. */
const CLOSE_WITHIN_MS = 5_000

/** `db1:5432,db2:5432/jeton`, without user and password. */
const hostsOf = (url: string): string => url.replace(/^postgres(ql)?:\/\/([^/]*@)?/, '').replace(/\?.*$/, '')

async function storeTime(kysely: Kysely<never>): Promise<number> {
  const { rows } = await raw<{ now: number }>`select jeton_now() as now`.execute(kysely)
  return rows[0]!.now
}

function transactionOn(kysely: Kysely<never>): Transaction {
  return {
    read: () => kysely,
    write: () => kysely,
    lock: (query: { forUpdate(): unknown }) => query.forUpdate(),
    claim: (query: { forUpdate(): { skipLocked(): unknown } }) => query.forUpdate().skipLocked(),
    now: () => storeTime(kysely),
    notify: async (topic: string) => void (await raw`select pg_notify(${CHANNEL}, ${topic})`.execute(kysely)),
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
  const kysely = new Kysely<never>({ dialect: poolDialect(pool) })
  const kyselyWithoutTimeout = new Kysely<never>({ dialect: poolDialect(pool, { noTimeout: true }) })
  const notifications = createNotifications(hosts)

  async function attempt<T>(
    work: (tx: Transaction) => Promise<T>,
    on: Kysely<never>,
    retries = RETRIES,
  ): Promise<T> {
    try {
      return await on.transaction().execute((tx) => work(transactionOn(tx as never)))
    } catch (error) {
      if (retries > 0 && isWorthRepeating(error)) return attempt(work, on, retries - 1)
      throw error
    }
  }

  return {
    engine: 'postgres',
    label: `PostgreSQL ${hostsOf(url)}`,
    read: () => kysely as never,
    now: () => storeTime(kysely),
    transaction: (work, options) => attempt(work, options?.noTimeout ? kyselyWithoutTimeout : kysely),
    snapshot: (work) => kyselyWithoutTimeout.connection().execute((one) => readSnapshot(one as never, work)),
    withConnection: (work, options) => (options?.shared ? shared : pool).use(work),
    subscribe: notifications.subscribe,
    async close() {
      notifications.close()
      await pool.close(CLOSE_WITHIN_MS)
    },
  }
}
