import { Kysely, sql as raw } from 'kysely'
import postgres, { type Sql } from 'postgres'
import type { PostgresDatabase, Transaction } from '../database.ts'
import { isDeadlock } from './errors.ts'
import { guarded, guardedDialect, PATIENT_MS, SILENCE_MS, STATEMENT_TIMEOUT_MS } from './guarded-dialect.ts'
import { Reservations } from './reservations.ts'
import { reserve } from './reserve.ts'

const DEADLOCK_RETRIES = 3
/** One channel; the payload is the topic. */
const CHANNEL = 'jeton_wake'

/** `db1:5432,db2:5432/jeton`, without user and password. */
const hostsOf = (url: string): string => url.replace(/^postgres(ql)?:\/\/([^/]*@)?/, '').replace(/\?.*$/, '')

const connect = (url: string, pool: number): Sql =>
  postgres(url, {
    max: pool,
    connect_timeout: 4,
    // By default it waits longer and longer, up to 20 s, while queries queue up instead of failing.
    backoff: (attempt: number) => Math.min(0.1 * 2 ** attempt, 1),
    onnotice: () => undefined,
    // Epoch milliseconds and counts fit a double; as strings (the default) they would compare wrongly in silence.
    types: { bigint: { to: 20, from: [20], parse: Number, serialize: String } },
    connection: {
      application_name: 'jeton',
      statement_timeout: STATEMENT_TIMEOUT_MS,
      lock_timeout: STATEMENT_TIMEOUT_MS,
      idle_in_transaction_session_timeout: STATEMENT_TIMEOUT_MS * 2,
    },
  }) as Sql

interface Pool {
  readonly sql: Sql
  readonly kysely: Kysely<never>
  /** Without a deadline, for migrations. */
  readonly patient: Kysely<never>
}

/** A pool that replaces itself when it hangs: a connection into a void would otherwise be waited for until TCP gives up. */
class RenewablePool {
  readonly #connect: () => Sql
  readonly #reservations = new Reservations()
  #current: Pool

  constructor(url: string, size: number) {
    this.#connect = () => connect(url, size)
    this.#current = this.#make()
  }

  get current(): Pool {
    return this.#current
  }

  #make(): Pool {
    const driver = this.#connect()
    const reserving = () => this.#reservations.take(() => reserve(driver))
    const onHang = () => this.renew(pool)
    const kyselyWith = (silenceMs: number) =>
      new Kysely<never>({ dialect: guardedDialect({ reserve: reserving, onHang, silenceMs }) })
    const sql = Object.assign(driver.bind(null), driver, { reserve: reserving, begin: refuseBegin }) as Sql
    const pool: Pool = { sql, kysely: kyselyWith(SILENCE_MS), patient: kyselyWith(PATIENT_MS) }
    return pool
  }

  renew(hung: Pool): void {
    if (this.#current !== hung) return
    this.#current = this.#make()
    void hung.sql.end({ timeout: 0 }).catch(() => undefined)
  }

  async close(): Promise<void> {
    await this.#reservations.close()
    await this.#current.sql.end({ timeout: 1 })
  }
}

/** Its `begin` goes on writing into a connection that was cut, which ends the process; see `reserve`. */
const refuseBegin = () => Promise.reject(new Error('Use reserve() and send begin and commit yourself.'))

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
  const listener = connect(url, 1)
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
  const pool = new RenewablePool(url, poolSize)
  const wakes = createWakes(url)

  async function attempt<T>(
    work: (tx: Transaction) => Promise<T>,
    kysely: () => Kysely<never>,
    retries = DEADLOCK_RETRIES,
  ): Promise<T> {
    try {
      return await kysely()
        .transaction()
        .execute((tx) => work(transactionOn(tx as never)))
    } catch (error) {
      if (retries > 0 && isDeadlock(error)) return attempt(work, kysely, retries - 1)
      throw error
    }
  }

  return {
    engine: 'postgres',
    label: `PostgreSQL ${hostsOf(url)}`,
    read: () => pool.current.kysely as never,
    now: () => storeTime(pool.current.kysely),
    transaction: (work, options) =>
      attempt(work, () => pool.current[options?.patient ? 'patient' : 'kysely']),
    runSql(work) {
      const used = pool.current
      return guarded(work(used.sql), () => pool.renew(used))
    },
    onWake: wakes.on,
    async close() {
      await Promise.all([pool.close(), wakes.close()])
    },
  }
}
