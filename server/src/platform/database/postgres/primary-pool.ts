import { setTimeout as wait } from 'node:timers/promises'
import { Client, type ClientConfig, Pool, type PoolClient, TypeOverrides, types } from 'pg'
import { StoreUnavailable } from '../database.ts'
import { QUERY_TIMEOUT_MS } from '../deadline.ts'
import { toStoreError } from './errors.ts'
import type { Host, Hosts } from './hosts.ts'
import { requireSessionPooling } from './pooler.ts'
import { Connection, PreparedStatements } from './prepared-statements.ts'

/** Timeout on the server, which reports it as an error. */
const STATEMENT_TIMEOUT_MS = 5_000
const MAX_CONNECT_MS = 4_000

/** Epoch milliseconds and counts fit a double. As strings, the default, they would silently compare wrongly. */
const parsers = new TypeOverrides()
parsers.setTypeParser(types.builtins.INT8, Number)

/** Leaves time to try all hosts while a caller waits for a connection. */
const connectTimeoutMs = (hosts: number): number => Math.min(MAX_CONNECT_MS, QUERY_TIMEOUT_MS / (hosts + 0.5))

const configOf = (host: Host, hosts: number): ClientConfig => ({
  ...host,
  sslnegotiation: 'postgres',
  application_name: 'jeton',
  pipeline: true,
  types: parsers,
  connectionTimeoutMillis: connectTimeoutMs(hosts),
  query_timeout: QUERY_TIMEOUT_MS,
})

/** Not parameters of the connection, because PgBouncer refuses them there. */
const START_SESSION = `select pg_is_in_recovery() as is_standby, pg_backend_pid() as pid,
  set_config('statement_timeout', '${STATEMENT_TIMEOUT_MS}', false),
  set_config('lock_timeout', '${STATEMENT_TIMEOUT_MS}', false),
  set_config('idle_in_transaction_session_timeout', '${STATEMENT_TIMEOUT_MS * 2}', false)`

/** A client of one host. */
export class HostClient extends Client {
  readonly target: Host
  readonly #hosts: Hosts
  /** Process id of the backend, as the server sent it. */
  declare readonly processID: number

  constructor(hosts: Hosts, target = hosts.current) {
    super(configOf(target, hosts.all.length))
    this.#hosts = hosts
    this.target = target
    // Queries in flight fail with the same error. Without a listener it would crash the process.
    this.on('error', () => undefined)
  }

  /**
   * Sets the timeouts of the session. Refuses a standby, also for reads: it may be behind, and would report a revoked token
   * as active. Refuses a pooler that does not pool by session.
   */
  async startSession(): Promise<void> {
    const { rows } = await this.query<{ is_standby: boolean; pid: number }>(START_SESSION)
    const { host, port } = this.target
    if (rows[0]!.is_standby) throw new StoreUnavailable(`PostgreSQL: ${host}:${port} is a standby`)
    // A pooler sends a number of its own.
    if (rows[0]!.pid !== this.processID)
      await requireSessionPooling(this, () => new HostClient(this.#hosts, this.target))
    this.#hosts.notePrimary(this.target)
  }
}

const closed = () => new StoreUnavailable('The database is closed.')

interface SharedUse {
  readonly acquiring: Promise<Connection>
  users: number
}

/** Connections to the primary: a bounded number for exclusive use, and one that callers share. */
export class PrimaryPool {
  readonly #hosts: Hosts
  readonly #pool: Pool
  readonly #statements = new WeakMap<PoolClient, PreparedStatements>()
  #shared: SharedUse | undefined

  constructor(hosts: Hosts, size: number) {
    this.#hosts = hosts
    this.#pool = new Pool({
      Client: class extends HostClient {
        constructor() {
          super(hosts)
        }
      },
      max: size,
      connectionTimeoutMillis: QUERY_TIMEOUT_MS,
      idleTimeoutMillis: 0,
      onConnect: (client) => (client as unknown as HostClient).startSession(),
    })
    const changes = { count: 0 }
    this.#pool.on('connect', (client) => void this.#statements.set(client, new PreparedStatements(changes)))
    // An idle connection was cut. The pool has already removed it.
    this.#pool.on('error', () => undefined)
  }

  async acquire(timeoutMs = QUERY_TIMEOUT_MS): Promise<Connection> {
    if (this.#pool.ending) throw closed()
    const client = await this.#hosts
      .connect(() => this.#connect())
      .catch((error) => Promise.reject(toStoreError(error)))
    return new Connection(client, this.#statements.get(client)!, timeoutMs)
  }

  /** Closes idle connections to a former primary: if it is cut off, a statement would wait for its timeout. */
  async #connect(): Promise<PoolClient> {
    for (;;) {
      const client = await this.#pool.connect()
      if (!this.#hosts.isFormerPrimary((client as unknown as HostClient).target)) return client
      client.release(true)
    }
  }

  async use<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = await this.acquire()
    try {
      return await work(connection)
    } finally {
      connection.release()
    }
  }

  /**
   * Lends one connection to all concurrent callers. Each of them sends a transaction as a whole, so the server continues
   * with the next one without waiting for a round trip.
   */
  async useShared<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    if (this.#pool.ending) throw closed()
    this.#shared ??= { acquiring: this.acquire(), users: 0 }
    const shared = this.#shared
    shared.users++
    let connection: Connection | undefined
    try {
      connection = await shared.acquiring
      return await work(connection)
    } finally {
      shared.users--
      const isOver = shared.users === 0 || connection === undefined || connection.isExpired
      if (isOver && this.#shared === shared) this.#shared = undefined
      if (shared.users === 0) connection?.release()
    }
  }

  /** Waits for the connections in use, up to the given time. */
  async close(withinMs: number): Promise<void> {
    if (this.#pool.ending) return
    const deadline = new AbortController()
    const waiting = wait(withinMs, undefined, { signal: deadline.signal }).catch(() => undefined)
    await Promise.race([this.#pool.end(), waiting])
    deadline.abort()
  }
}
