import { StoreUnavailable } from '../database.ts'
import { QUERY_TIMEOUT_MS } from '../deadline.ts'
import type { Connection } from './connection.ts'

interface Waiting {
  /** False where it has given up meanwhile. */
  take(connection: Connection): boolean
  fail(error: unknown): void
}

/**
 * A bounded number of connections, each lent to one user at a time; the driver's own pool loses users when a connection
 * is cut, and lends one on whose transaction is not over. A dead connection is thrown away and made anew for the next
 * who asks.
 */
export class ConnectionPool {
  readonly #connect: () => Connection
  readonly #size: number
  readonly #idle: Connection[] = []
  readonly #waiting: Waiting[] = []
  #open = 0
  #closed = false
  #whenUnused: (() => void) | undefined

  constructor(connect: () => Connection, size: number) {
    this.#connect = connect
    this.#size = size
  }

  get isClosed(): boolean {
    return this.#closed
  }

  /** Lends a connection to `work`, and takes it back whatever happens. */
  async use<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = await this.acquire()
    try {
      return await work(connection)
    } finally {
      this.release(connection)
    }
  }

  async acquire(): Promise<Connection> {
    if (this.#closed) throw new StoreUnavailable('The database is closed.')
    for (let connection = this.#idle.pop(); connection; connection = this.#idle.pop()) {
      if (!connection.isDead) return connection
      this.#discard(connection)
    }
    return this.#open < this.#size ? this.#make() : this.#turn()
  }

  release(connection: Connection): void {
    if (connection.isDead || connection.isWorn || this.#closed) return void this.#discard(connection)
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift())
      if (next.take(connection)) return
    this.#idle.push(connection)
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
    const connection = this.#connect()
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
    // By the time that it is there, whoever it was made for may have given up: then it goes on to the next.
    if (next) this.#make().then((made) => next.take(made) || this.release(made), next.fail)
  }

  #turn(): Promise<Connection> {
    return new Promise((resolve, reject) => {
      let over = false
      const end = (): boolean => {
        clearTimeout(timer)
        const first = !over
        over = true
        return first
      }
      const waiting: Waiting = {
        take(connection) {
          const first = end()
          if (first) resolve(connection)
          return first
        },
        fail: (error) => void (end() && reject(error)),
      }
      const timer = setTimeout(() => {
        const at = this.#waiting.indexOf(waiting)
        if (at >= 0) this.#waiting.splice(at, 1)
        waiting.fail(
          new StoreUnavailable(`No connection to PostgreSQL was free for ${QUERY_TIMEOUT_MS / 1000} s.`),
        )
      }, QUERY_TIMEOUT_MS)
      this.#waiting.push(waiting)
    })
  }
}
