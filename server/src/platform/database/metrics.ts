import type { Metrics } from '../metrics.ts'
import { type Database, StoreUnavailable } from './database.ts'

/** Wraps a database to count and time its transactions and batches. */
export function withMetrics<D extends Database>(
  db: D,
  metrics: Metrics,
  onUnavailable: (error: StoreUnavailable) => void = () => undefined,
): D {
  const durations = metrics.histogram('jeton_store_transaction_duration_seconds')
  const unavailable = metrics.counter('jeton_store_unavailable_total')()

  async function timed<T>(kind: string, work: () => Promise<T>): Promise<T> {
    const start = performance.now()
    try {
      return await work()
    } catch (error) {
      if (error instanceof StoreUnavailable) {
        unavailable.add()
        onUnavailable(error)
      }
      throw error
    } finally {
      durations({ kind }).observe((performance.now() - start) / 1000)
    }
  }

  const transaction: Database['transaction'] = (work, options) =>
    timed('transaction', () => db.transaction(work, options))
  if (db.engine === 'sqlite')
    return {
      ...db,
      transaction,
      runInWriter: (module, input) => timed('batch', () => db.runInWriter(module, input)),
    }
  return {
    ...db,
    transaction,
    withConnection: (work, options) => timed('batch', () => db.withConnection(work, options)),
  }
}
