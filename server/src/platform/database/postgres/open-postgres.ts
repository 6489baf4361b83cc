import { Kysely, sql as raw } from 'kysely'
import type { PostgresDatabase, Transaction } from '../database.ts'
import { Connection, connectDriver } from './connection.ts'
import { ConnectionPool } from './connection-pool.ts'
import { poolDialect } from './dialect.ts'
import { isDeadlock } from './errors.ts'

const DEADLOCK_RETRIES = 3
/** One channel; the payload is the topic. */
const CHANNEL = 'jeton_wake'
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
    wake: async (topic: string) => void (await raw`select pg_notify(${CHANNEL}, ${topic})`.execute(kysely)),
  } as never as Transaction
}

/** Topics and who wants to hear of them, over one listening connection that reconnects by itself. */
function createWakes(url: string) {
  const listener = connectDriver(url)
  const topics = new Map<string, Set<() => void>>()
  const hear = (topic: string) => {
    for (const heard of topics.get(topic) ?? []) heard()
  }
  // A listener that has reconnected may have missed some: then every topic is woken.
  const hearAll = () => {
    for (const topic of topics.keys()) hear(topic)
  }
  let listening: Promise<unknown> | undefined
  return {
    on(topic: string, heard: () => void): () => void {
      listening ??= listener.listen(CHANNEL, hear, hearAll).catch(() => (listening = undefined))
      const heards = topics.get(topic) ?? new Set()
      topics.set(topic, heards.add(heard))
      return () => void heards.delete(heard)
    },
    close: () => listener.end({ timeout: 1 }),
  }
}

export async function openPostgres(url: string, poolSize: number): Promise<PostgresDatabase> {
  const pool = new ConnectionPool(() => new Connection(url), poolSize)
  const kysely = new Kysely<never>({ dialect: poolDialect(pool) })
  const patient = new Kysely<never>({ dialect: poolDialect(pool, { patient: true }) })
  const wakes = createWakes(url)

  async function attempt<T>(
    work: (tx: Transaction) => Promise<T>,
    on: Kysely<never>,
    retries = DEADLOCK_RETRIES,
  ): Promise<T> {
    try {
      return await on.transaction().execute((tx) => work(transactionOn(tx as never)))
    } catch (error) {
      if (retries > 0 && isDeadlock(error)) return attempt(work, on, retries - 1)
      throw error
    }
  }

  return {
    engine: 'postgres',
    label: `PostgreSQL ${hostsOf(url)}`,
    read: () => kysely as never,
    now: () => storeTime(kysely),
    transaction: (work, options) => attempt(work, options?.patient ? patient : kysely),
    runSql: (work) => pool.lend(work),
    onWake: wakes.on,
    async close() {
      await Promise.all([pool.close(CLOSE_WITHIN_MS), wakes.close()])
    },
  }
}
