import type { Connection } from './connection.ts'
import type { ConnectionPool } from './connection-pool.ts'

/** Who waits for longer than this may wait for a lock: those that come later go by another connection. */
const STUCK_MS = 25

type Pool = Pick<ConnectionPool, 'acquire' | 'release' | 'isClosed'>

interface Loan {
  readonly taking: Promise<Connection>
  connection: Connection | undefined
  users: number
  /** When it was last seen to go on. */
  movedAt: number
}

/**
 * One connection of the pool for all who are here at a time. Each sends all of a transaction at once, so that it comes
 * before or after those of the others: the server goes from one to the next without waiting for their locks, or for us.
 */
export class SharedConnection {
  readonly #pool: Pool
  #loan: Loan | undefined

  constructor(pool: Pool) {
    this.#pool = pool
  }

  async use<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    if (!this.#loan || !this.#goesOn(this.#loan))
      this.#loan = {
        taking: this.#pool.acquire(),
        connection: undefined,
        users: 0,
        movedAt: performance.now(),
      }
    const loan = this.#loan
    loan.users++
    try {
      loan.connection = await loan.taking
      return await work(loan.connection)
    } finally {
      loan.movedAt = performance.now()
      if (--loan.users === 0) this.#end(loan)
    }
  }

  #goesOn({ connection, movedAt }: Loan): boolean {
    if (this.#pool.isClosed || connection?.isDead) return false
    return performance.now() - movedAt < STUCK_MS
  }

  #end(loan: Loan): void {
    if (this.#loan === loan) this.#loan = undefined
    if (loan.connection) this.#pool.release(loan.connection)
  }
}
