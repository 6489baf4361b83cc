import { StoreUnavailable } from '../../platform/database/index.ts'

/** Above this number callers get 503, so that a flood of invented tokens cannot exhaust memory. */
const MAX_WAITING = 10_000
const MAX_BATCH = 200

interface Waiting<Name, Value> {
  readonly name: Name
  readonly promise: Promise<Value>
  resolve(value: Value): void
  reject(error: unknown): void
}

/**
 * Loads values by name with at most one query in flight. Requests that arrive during a query share the next one, and equal
 * names are read once, so that lookups of unknown tokens cost a bounded number of queries.
 */
export class BatchLoader<Name, Value> {
  readonly #read: (names: Name[]) => Promise<Value[]>
  #waiting = new Map<string, Waiting<Name, Value>>()
  #isReading = false

  constructor(read: (names: Name[]) => Promise<Value[]>) {
    this.#read = read
  }

  load(id: string, name: Name): Promise<Value> {
    const waiting = this.#waiting.get(id)
    if (waiting) return waiting.promise
    if (this.#waiting.size >= MAX_WAITING)
      return Promise.reject(new StoreUnavailable('Too many lookups are waiting for the store.'))
    const { promise, resolve, reject } = Promise.withResolvers<Value>()
    this.#waiting.set(id, { name, promise, resolve, reject })
    if (!this.#isReading) void this.#drain()
    return promise
  }

  async #drain(): Promise<void> {
    this.#isReading = true
    while (this.#waiting.size > 0) {
      const batch = [...this.#waiting.entries()].slice(0, MAX_BATCH)
      for (const [id] of batch) this.#waiting.delete(id)
      await this.#settle(batch.map(([, waiting]) => waiting))
    }
    this.#isReading = false
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
