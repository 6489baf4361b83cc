import type { Logger } from 'kysely'
import { errorTypeOf, runInSpan, type Tracer } from '../tracing.ts'
import type { Database } from './database.ts'

type Engine = Database['engine']

const SYSTEMS: Readonly<Record<Engine, string>> = { sqlite: 'sqlite', postgres: 'postgresql' }

const attributesFor = (engine: Engine, operation: string) => ({
  'db.system.name': SYSTEMS[engine],
  'db.operation.name': operation,
})

const OPERATION = /^\W*(\w+)/
const TABLE = /\b(?:from|into|update) "?([a-z]\w*)/

/**
 * Records a span for each statement of a traced request, named after its operation and first table. It exports no other part
 * of the statement. Background jobs have no current span: a span for each of their polls would hide the requests.
 */
export const queryRecorder =
  (tracer: Tracer, engine: Engine): Logger =>
  (event) => {
    if (!tracer.current()) return
    const { sql } = event.query
    const operation = OPERATION.exec(sql)?.[1] ?? 'query'
    const table = TABLE.exec(sql)?.[1]
    const attributes = { ...attributesFor(engine, operation), ...(table && { 'db.collection.name': table }) }
    tracer.record(table ? `${operation} ${table}` : operation, {
      kind: 'client',
      attributes,
      durationMs: event.queryDurationMillis,
      errorType: event.level === 'error' ? errorTypeOf(event.error) : undefined,
    })
  }

/** Wraps a database so that transactions and batches inside of a span are spans too. */
export function withTracing<D extends Database>(db: D, tracer: Tracer): D {
  function traced<T>(operation: string, work: () => Promise<T>): Promise<T> {
    if (!tracer.current()) return work()
    const span = tracer.start(operation, { kind: 'client', attributes: attributesFor(db.engine, operation) })
    return runInSpan(tracer, span, work)
  }

  const transaction: Database['transaction'] = (work, options) =>
    traced('transaction', () => db.transaction(work, options))
  if (db.engine === 'sqlite')
    return {
      ...db,
      transaction,
      runInWriter: (module, input) => traced('batch', () => db.runInWriter(module, input)),
    }
  return {
    ...db,
    transaction,
    withConnection: (work, options) => traced('batch', () => db.withConnection(work, options)),
  }
}
