import { StoreUnavailable } from '../database.ts'
import { Connection, SILENCE_MS } from './connection.ts'

interface Waiting {
  take(connection: Connection): void
  fail(error: unknown): void
}

/**
 * A bounded number of connections, each lent to one user at a time; the driver's own pool loses users when a connection
 * is cut, and lends one on whose transaction is not over. A dead connection is thrown away and made anew for the next
 * who asks.
 */
export class ConnectionPool {
  readonly #url: string
  readonly #size: number
  readonly #idle: Connection[] = []
  readonly #waiting: Waiting[] = []
  #open = 0
  #closed = false
  #whenUnused: (() => void) | undefined

  constructor(url: string, size: number) {
    this.#url = url
    this.#size = size
  }

  /** Lends a connection to `work`, and takes it back whatever happens. */
  async lend<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = await this.take()
    try {
      return await work(connection)
    } finally {
      this.give(connection)
    }
  }

  async take(): Promise<Connection> {
    if (this.#closed) throw new StoreUnavailable('The database is closed.')
    for (let connection = this.#idle.pop(); connection; connection = this.#idle.pop()) {
      if (!connection.isDead) return connection
      this.#discard(connection)
    }
    return this.#open < this.#size ? this.#make() : this.#turn()
  }

  give(connection: Connection): void {
    if (connection.isDead || this.#closed) return void this.#discard(connection)
    const next = this.#waiting.shift()
    if (next) next.take(connection)
    else this.#idle.push(connection)
  }

  /** Waits for what is under way, but not for ever. */
  async close(withinMs: number): Promise<void> {
    this.#closed = true
    for (const { fail } of this.#waiting.splice(0)) fail(new StoreUnavailable('The database is closed.'))
    for (const connection of this.#idle.splice(0)) this.#discard(connection)
    if (this.#open === 0) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, withinMs)
      this.#whenUnused = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  async #make(): Promise<Connection> {
    this.#open++
    const connection = new Connection(this.#url)
    try {
      await connection.open()
      return connection
    } catch (error) {
      this.#discard(connection)
      throw error
    }
  }

  #discard(connection: Connection): void {
    connection.close()
    this.#open--
    if (this.#open === 0) this.#whenUnused?.()
    const next = this.#closed ? undefined : this.#waiting.shift()
    if (next) this.#make().then(next.take, next.fail)
  }

  #turn(): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { take: settle(resolve), fail: settle(reject) }
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1)
        reject(new StoreUnavailable(`No connection to PostgreSQL was free for ${SILENCE_MS / 1000} s.`))
      }, SILENCE_MS)
      function settle<T>(done: (value: T) => void): (value: T) => void {
        return (value) => {
          clearTimeout(timer)
          done(value)
        }
      }
      this.#waiting.push(waiting)
    })
  }
}
