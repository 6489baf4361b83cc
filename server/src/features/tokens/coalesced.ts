import { StoreUnavailable } from '../../platform/database/index.ts'

/** Beyond this many, callers are told to come back: a flood of made-up tokens must not pile up in memory. */
const WAITING_MOST = 10_000
const READ_AT_ONCE = 200

interface Waiting<Name, Value> {
  readonly name: Name
  readonly promise: Promise<Value>
  resolve(value: Value): void
  reject(error: unknown): void
}

/**
 * Reads by name, of which at most one query is under way: what is asked for meanwhile goes into the next one together,
 * and the same name only once. So look-ups of unknown tokens are bounded in number, however many there are.
 */
export class Coalesced<Name, Value> {
  readonly #read: (names: Name[]) => Promise<Value[]>
  #waiting = new Map<string, Waiting<Name, Value>>()
  #reading = false

  constructor(read: (names: Name[]) => Promise<Value[]>) {
    this.#read = read
  }

  get(id: string, name: Name): Promise<Value> {
    const known = this.#waiting.get(id)
    if (known) return known.promise
    if (this.#waiting.size >= WAITING_MOST)
      return Promise.reject(new StoreUnavailable('Too many look-ups are waiting for the store.'))
    const { promise, resolve, reject } = Promise.withResolvers<Value>()
    this.#waiting.set(id, { name, promise, resolve, reject })
    if (!this.#reading) void this.#drain()
    return promise
  }

  async #drain(): Promise<void> {
    this.#reading = true
    while (this.#waiting.size > 0) {
      const batch = [...this.#waiting.entries()].slice(0, READ_AT_ONCE)
      for (const [id] of batch) this.#waiting.delete(id)
      await this.#settle(batch.map(([, waiting]) => waiting))
    }
    this.#reading = false
  }

  async #settle(batch: readonly Waiting<Name, Value>[]): Promise<void> {
    try {
      const values = await this.#read(batch.map(({ name }) => name))
      for (const [i, { resolve }] of batch.entries()) resolve(values[i]!)
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }
}
