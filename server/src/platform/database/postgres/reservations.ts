import type { ReservedSql } from 'postgres'
import { StoreUnavailable } from '../database.ts'

/** Closing waits no longer than this for what is under way. */
const CLOSE_WITHIN_MS = 5_000

/**
 * Who holds a connection. The driver's `end` does not wait for reserved connections in a useful way (it always takes the
 * whole timeout), and its `reserve` after `end` opens new ones: so closing is done here.
 */
export class Reservations {
  #held = 0
  #closed = false
  #onIdle: (() => void) | undefined

  async take(reserve: () => Promise<ReservedSql>): Promise<ReservedSql> {
    if (this.#closed) throw new StoreUnavailable('The database is closed.')
    this.#held++
    try {
      const sql = await reserve()
      const release = once(() => {
        sql.release()
        this.#leave()
      })
      return Object.assign(Object.create(sql), { unsafe: sql.unsafe, release }) as ReservedSql
    } catch (error) {
      this.#leave()
      throw error
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    if (this.#held === 0) return
    await new Promise<void>((idle) => {
      const timer = setTimeout(idle, CLOSE_WITHIN_MS)
      this.#onIdle = () => {
        clearTimeout(timer)
        idle()
      }
    })
  }

  #leave(): void {
    if (--this.#held === 0) this.#onIdle?.()
  }
}

function once(action: () => void): () => void {
  let done = false
  return () => {
    if (!done) action()
    done = true
  }
}
