import postgres, { type PendingQuery, type Row, type RowList, type Sql } from 'postgres'
import type { SqlConnection } from '../database.ts'
import { StoreUnavailable } from '../database.ts'
import { SILENCE_MS } from '../deadline.ts'
import { isDisconnect, translate } from './errors.ts'
import type { Host, Hosts } from './hosts.ts'

/** The server itself gives up after this long (`statement_timeout`), and says so. */
const STATEMENT_TIMEOUT_MS = 5_000

/** Far more different statements than the program has; batches of every length make the rest. */
const STATEMENTS_MOST = 1_000

const quoted = (values: readonly unknown[]): string => `{"${values.join('","')}"}`
const quotedWithEscapes = (values: readonly unknown[]): string =>
  quoted(values.map((value) => String(value).replace(/["\\]/g, '\\$&')))

/** As PostgreSQL writes an array; the driver could learn it from the server, in a query whose failure nobody can catch. */
function arrayLiteral(values: readonly unknown[]): string {
  if (values.length === 0) return '{}'
  // Ids and scopes need no escapes, and one look at the whole says so.
  const plain = values.join('')
  return /["\\]/.test(plain) ? quotedWithEscapes(values) : quoted(values)
}
const arrayType = (oid: number) => ({
  to: oid,
  from: [],
  serialize: arrayLiteral,
  parse: (text: string) => text,
})

/** All hosts together are tried within the silence that callers are ready for. */
const connectSeconds = (hosts: number): number => Math.min(4, SILENCE_MS / 1000 / (hosts + 0.5))

interface DriverOptions {
  readonly onclose: () => void
  readonly onnotify: ((channel: string, payload: string) => void) | undefined
  readonly hosts: number
}

const connectDriver = (host: Host, { onclose, onnotify, hosts }: DriverOptions): Sql =>
  postgres(host.url.href, {
    // One host, and as parts: with several the driver swallows errors and tries again without a pause, may end up at a
    // standby, and it takes addresses of IPv6 apart at their colons.
    host: [host.host],
    port: [host.port],
    ssl: host.tls,
    max: 1,
    onclose,
    onnotify,
    connect_timeout: connectSeconds(hosts),
    max_lifetime: null,
    fetch_types: false,
    // By default it waits longer and longer, up to 20 s, while queries queue up instead of failing.
    backoff: (attempt: number) => Math.min(0.1 * 2 ** attempt, 1),
    onnotice: () => undefined,
    types: {
      // Epoch milliseconds and counts fit a double; as strings (the default) they would compare wrongly in silence.
      bigint: { to: 20, from: [20], parse: Number, serialize: String },
      texts: arrayType(1009),
      bigints: arrayType(1016),
    },
    connection: {
      application_name: 'jeton',
      statement_timeout: STATEMENT_TIMEOUT_MS,
      lock_timeout: STATEMENT_TIMEOUT_MS,
      idle_in_transaction_session_timeout: STATEMENT_TIMEOUT_MS * 2,
    },
  } as never) as Sql

/**
 * One connection, and never another one under the same name. The driver would reconnect by itself, and what was to be the
 * middle of a transaction would run alone: so once it is closed, nothing more is sent.
 */
export class Connection implements SqlConnection {
  readonly #hosts: Hosts
  readonly #onnotify: ((channel: string, payload: string) => void) | undefined
  readonly #texts = new Set<string>()
  readonly #closed = Promise.withResolvers<void>()
  #driver: Sql | undefined
  #dead = false

  constructor(hosts: Hosts, onnotify?: (channel: string, payload: string) => void) {
    this.#hosts = hosts
    this.#onnotify = onnotify
  }

  /** Resolves when it is over, however it ended. */
  get closed(): Promise<void> {
    return this.#closed.promise
  }

  /** It holds more prepared statements than it should: they stay as long as it does, here and in the server. */
  get isWorn(): boolean {
    return this.#texts.size > STATEMENTS_MOST
  }

  get isDead(): boolean {
    return this.#dead
  }

  /**
   * Until a primary is there: a close before that would go unnoticed. A standby is passed over, also for reading: what it
   * knows may be old, and a token that was revoked meanwhile would be called active.
   */
  async open(): Promise<void> {
    let failure: unknown
    for (const host of this.#hosts.inTurn()) {
      try {
        return await this.#openAt(host)
      } catch (error) {
        // The first one tells most: it is the host that served last.
        failure ??= error
      }
    }
    this.#die()
    throw failure
  }

  async #openAt(host: Host): Promise<void> {
    const driver: Sql = connectDriver(host, {
      onclose: () => driver === this.#driver && this.#die(),
      onnotify: this.#onnotify,
      hosts: this.#hosts.count,
    })
    this.#driver = driver
    try {
      const asked = () => this.#query('select pg_is_in_recovery() as is_standby', []).execute()
      const [row] = await this.#answer(asked, SILENCE_MS)
      if (row!.is_standby) throw new StoreUnavailable(`PostgreSQL: ${host.host}:${host.port} is a standby`)
      this.#hosts.served(host)
    } catch (error) {
      this.#driver = undefined
      void driver.end({ timeout: 0 }).catch(() => undefined)
      throw error
    }
  }

  async send<R = Row>(
    text: string,
    parameters: readonly unknown[] = [],
    silenceMs = SILENCE_MS,
  ): Promise<RowList<Row[]> & readonly R[]> {
    return (await this.#send(text, silenceMs, () => this.#query(text, parameters).execute())) as never
  }

  async sendRaw(text: string, parameters: readonly unknown[] = []): Promise<readonly (Buffer | null)[][]> {
    return (await this.#send(text, SILENCE_MS, () => this.#query(text, parameters).raw().execute())) as never
  }

  async #send<T>(text: string, silenceMs: number, ask: () => Promise<T>): Promise<T> {
    if (this.#dead) throw new StoreUnavailable('PostgreSQL: the connection was closed.')
    this.#texts.add(text)
    try {
      return await this.#answer(ask, silenceMs)
    } catch (error) {
      if (isDisconnect((error as Error).cause)) this.#die()
      throw error
    }
  }

  #query(text: string, parameters: readonly unknown[]): PendingQuery<Row[]> {
    // What is asked again and again is planned once, also where it has no parameters; `begin` and `commit` have no plan.
    const simple = parameters.length === 0 && !text.startsWith('select ')
    return this.#driver!.unsafe(text, parameters as never, { prepare: true, simple } as never)
  }

  async #answer<T>(ask: () => Promise<T>, silenceMs: number): Promise<T> {
    try {
      return await this.#unlessSilent(ask(), silenceMs)
    } catch (error) {
      throw translate(error)
    }
  }

  async #unlessSilent<T>(answer: Promise<T>, ms: number): Promise<T> {
    let timer: NodeJS.Timeout | undefined
    const silence = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        this.close()
        reject(new StoreUnavailable(`PostgreSQL did not answer within ${ms / 1000} s.`))
      }, ms)
    })
    try {
      return await Promise.race([answer, silence])
    } finally {
      clearTimeout(timer)
    }
  }

  close(): void {
    this.#die()
  }

  /** Ends the driver at once: statements that it has not sent yet would otherwise run on a new connection, each on its own. */
  #die(): void {
    this.#dead = true
    this.#closed.resolve()
    void this.#driver?.end({ timeout: 0 }).catch(() => undefined)
  }
}
