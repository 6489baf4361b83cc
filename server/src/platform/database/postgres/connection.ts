import postgres, { type Row, type RowList, type Sql } from 'postgres'
import type { SqlConnection } from '../database.ts'
import { StoreUnavailable } from '../database.ts'
import { isDisconnect, translate } from './errors.ts'

/** The server itself gives up after this long (`statement_timeout`), and says so. */
const STATEMENT_TIMEOUT_MS = 5_000
/** If even that is not heard, nobody is there: callers get their 503 within seconds, whatever the network does. */
export const SILENCE_MS = 7_000

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

export const connectDriver = (url: string, onclose: () => void = () => undefined): Sql =>
  postgres(url, {
    max: 1,
    onclose,
    connect_timeout: 4,
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
  readonly #driver: Sql
  readonly #texts = new Set<string>()
  #dead = false

  constructor(url: string) {
    this.#driver = connectDriver(url, () => (this.#dead = true))
  }

  /** It holds more prepared statements than it should: they stay as long as it does, here and in the server. */
  get isWorn(): boolean {
    return this.#texts.size > STATEMENTS_MOST
  }

  get isDead(): boolean {
    return this.#dead
  }

  /** Until it is there: a close before that would go unnoticed. */
  async open(): Promise<void> {
    await this.send('select 1')
  }

  async send<R = Row>(
    text: string,
    parameters: readonly unknown[] = [],
    silenceMs = SILENCE_MS,
  ): Promise<RowList<Row[]> & readonly R[]> {
    if (this.#dead) throw new StoreUnavailable('PostgreSQL: the connection was closed.')
    this.#texts.add(text)
    const answer = this.#driver.unsafe(text, parameters as never, { prepare: true })
    try {
      return (await this.#unlessSilent(answer.execute(), silenceMs)) as never
    } catch (error) {
      if (isDisconnect(error)) this.#dead = true
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
    this.#dead = true
    void this.#driver.end({ timeout: 0 }).catch(() => undefined)
  }
}
