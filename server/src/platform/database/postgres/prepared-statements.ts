import type { PoolClient, QueryConfig, QueryResult, QueryResultRow } from 'pg'
import { NO_TIMEOUT_MS } from '../deadline.ts'
import { isConnectionLost, isOutdatedPlan, toStoreError } from './errors.ts'

/** Far more than the different statements of Jeton; batches of different lengths add the rest. */
const MAX_STATEMENTS = 1_000

/** Counts how often tables have changed under prepared statements. Shared by the clients of a pool. */
interface SchemaChanges {
  count: number
}

/** Statements without parameters use the simple protocol, which allows several in one text. Only reads are prepared. */
const isWorthPreparing = (text: string, parameters: readonly unknown[]): boolean =>
  parameters.length > 0 || text.startsWith('select ')

/** Names the statements of one client, so that the server parses and plans each of them once. */
export class PreparedStatements {
  /** Undefined while the first use is in flight. */
  readonly #names = new Map<string, string | undefined>()
  readonly #changes: SchemaChanges
  readonly #madeAfter: number
  #count = 0

  constructor(changes: SchemaChanges) {
    this.#changes = changes
    this.#madeAfter = changes.count
  }

  /** True if the client has too many statements or outdated ones. Only closing it removes them from the server. */
  get isExpired(): boolean {
    return this.#madeAfter !== this.#changes.count || this.#count >= MAX_STATEMENTS
  }

  /**
   * Runs `send` with or without a name. Statements behind a first use must not rely on its name, because the server does not
   * parse it in an aborted transaction.
   */
  async run<T>(text: string, send: (name?: string) => Promise<T>): Promise<T> {
    const known = this.#names.get(text)
    if (this.isExpired || (known === undefined && this.#names.has(text))) return send()
    if (known !== undefined) return send(known)
    const name = `jeton_${++this.#count}`
    this.#names.set(text, undefined)
    try {
      const result = await send(name)
      this.#names.set(text, name)
      return result
    } catch (error) {
      this.#names.delete(text)
      throw error
    }
  }

  /** Expires all clients of the pool, unless this client connected before the last expiry. */
  noteOutdatedPlan(): void {
    if (this.#madeAfter === this.#changes.count) this.#changes.count++
  }
}

/** A pooled connection between its acquisition and its release. */
export class Connection {
  readonly #client: PoolClient
  readonly #statements: PreparedStatements
  readonly #timeoutMs: number
  #isLost = false
  #isCorked = false
  /** True if the statements sent so far leave a transaction open. */
  #isInTransaction = false

  constructor(client: PoolClient, statements: PreparedStatements, timeoutMs: number) {
    this.#client = client
    this.#statements = statements
    this.#timeoutMs = timeoutMs
  }

  /** True if it must be closed instead of reused. */
  get isExpired(): boolean {
    return this.#isLost || this.#statements.isExpired
  }

  async query<Row extends QueryResultRow>(
    text: string,
    parameters: readonly unknown[] = [],
  ): Promise<QueryResult<Row>> {
    const send = (name?: string): Promise<QueryResult<Row>> => {
      const config = { text, name, values: parameters as unknown[], query_timeout: this.#timeoutMs }
      this.#sendTogether()
      return this.#client.query<Row>(config as QueryConfig)
    }
    const isSingle = !this.#isInTransaction && !/^begin\b(?!;)/.test(text)
    this.#isInTransaction = !isSingle && text !== 'commit' && text !== 'rollback'
    try {
      return await (this.#canPrepare(text, parameters) ? this.#statements.run(text, send) : send())
    } catch (error) {
      if (!isOutdatedPlan(error)) throw this.#failed(error)
      this.#statements.noteOutdatedPlan()
      // An aborted transaction must be repeated as a whole. Its status may already be idle, if the commit was sent behind it.
      if (!isSingle) throw error
      return send().catch((again) => Promise.reject(this.#failed(again)))
    }
  }

  /** Work without a timeout prepares nothing: migrations change tables between two reads of them, in one transaction. */
  #canPrepare(text: string, parameters: readonly unknown[]): boolean {
    return this.#timeoutMs < NO_TIMEOUT_MS && isWorthPreparing(text, parameters)
  }

  release(isDiscarded = false): void {
    this.#client.release(isDiscarded || this.isExpired || this.#isInTransaction)
  }

  /** Writes the statements of this turn of the event loop to the socket at once, instead of one by one. */
  #sendTogether(): void {
    if (this.#isCorked) return
    const { stream } = this.#client.connection
    this.#isCorked = true
    stream.cork()
    process.nextTick(() => {
      this.#isCorked = false
      stream.uncork()
    })
  }

  #failed(error: unknown): unknown {
    if (isConnectionLost(error)) this.#isLost = true
    return toStoreError(error)
  }
}
