import type { Connection } from './connection.ts'
import type { ConnectionPool } from './connection-pool.ts'

interface Loan {
  readonly taking: Promise<Connection>
  connection: Connection | undefined
  users: number
}

/**
 * One connection of the pool for all who are here at a time. Each sends all of a transaction at once, so that it comes
 * before or after those of the others: the server goes from one to the next without waiting for their locks, or for us.
 */
export class SharedConnection {
  readonly #pool: Pick<ConnectionPool, 'take' | 'give'>
  #loan: Loan | undefined

  constructor(pool: Pick<ConnectionPool, 'take' | 'give'>) {
    this.#pool = pool
  }

  async lend<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    if (!this.#loan || this.#loan.connection?.isDead)
      this.#loan = { taking: this.#pool.take(), connection: undefined, users: 0 }
    const loan = this.#loan
    loan.users++
    try {
      loan.connection = await loan.taking
      return await work(loan.connection)
    } finally {
      if (--loan.users === 0) this.#end(loan)
    }
  }

  #end(loan: Loan): void {
    if (this.#loan === loan) this.#loan = undefined
    if (loan.connection) this.#pool.give(loan.connection)
  }
}
