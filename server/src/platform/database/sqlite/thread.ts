/**
 * Runs in a worker thread and owns one SQLite connection, so that the event loop never waits for the disk. A message holds
 * several requests and gets one reply with as many results. Requests run in the order in which they were sent.
 */
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { isMainThread, type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { BUSY_TIMEOUT_MS, beginImmediate } from './begin.ts'

export interface ThreadData {
  readonly isJetonThread: true
  readonly file: string
  readonly readOnly: boolean
}

export type ThreadRequest =
  | { readonly kind: 'query'; readonly sql: string; readonly parameters: readonly SQLInputValue[] }
  | { readonly kind: 'begin' | 'commit' | 'rollback' | 'close' }
  | { readonly kind: 'procedure'; readonly module: string; readonly input: unknown }

export type ThreadReply =
  | { readonly value: unknown }
  | { readonly error: { message: string; errcode: number | undefined; stack: string | undefined } }

/** Rows without column names are transferred to the other thread in half the time. */
export interface QueryReply {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly unknown[])[]
  readonly changes: number
}

export interface WriterContext {
  /** Returns the statement with this text, prepared once. */
  prepare(sql: string): StatementSync
  /**
   * The same object as in the previous run if nobody has written since, in any process: then everything that the procedure
   * read and wrote is still valid. Otherwise a new object.
   */
  readonly unchangedSince: object
}

/** The exported `run` of a module. It runs in this thread, in its own transaction. */
type WriterProcedure = (context: WriterContext, input: unknown) => unknown

const MAX_STATEMENTS = 300
/** Returns the cached statement, or prepares and caches it. A full cache drops its oldest entry. */
function cachedStatement<T>(cache: Map<string, T>, sql: string, prepare: () => T): T {
  const cached = cache.get(sql)
  if (cached !== undefined) return cached
  if (cache.size >= MAX_STATEMENTS) cache.delete(cache.keys().next().value!)
  const prepared = prepare()
  cache.set(sql, prepared)
  return prepared
}

/** Not shared with procedures, because its rows are arrays without column names. */
interface Query {
  readonly statement: StatementSync
  readonly hasRows: boolean
}

/** I/O errors (a limit on file sizes, for example) and a full disk. */
const DISK_FULL = new Set([10, 13])

function serve(port: MessagePort, { file, readOnly }: ThreadData): void {
  const database = new DatabaseSync(file, { readOnly, timeout: BUSY_TIMEOUT_MS })
  if (!readOnly) {
    database.exec('pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on')
    database.exec('pragma wal_autocheckpoint = 1000; pragma cache_size = -16000')
  }

  const statements = new Map<string, StatementSync>()
  const queries = new Map<string, Query>()
  const procedures = new Map<string, WriterProcedure>()
  /** The procedure that wrote last on this connection, and the number of changes by other connections until then. */
  let lastWriter:
    | { readonly module: string; readonly unchangedSince: object; readonly changesByOthers: number }
    | undefined
  let hasFailedForSpace = false
  let isInTransaction = false
  /** The first error since `begin`. It fails later statements and the commit, like in PostgreSQL. */
  let firstError: unknown

  /**
   * Copies the write-ahead log into the file after a write that found no space, so that the log restarts instead of
   * growing. Otherwise a log that has reached a limit would stay there although the file still has space.
   */
  function checkpointIfFull(): void {
    if (!hasFailedForSpace || database.isTransaction) return
    hasFailedForSpace = false
    try {
      database.exec('pragma wal_checkpoint(passive)')
    } catch {
      // No space for that either. The next failed write tries again.
    }
  }

  const prepare = (sql: string): StatementSync =>
    cachedStatement(statements, sql, () => database.prepare(sql))

  function prepareQuery(sql: string): Query {
    const statement = database.prepare(sql)
    statement.setReturnArrays(true)
    return { statement, hasRows: statement.columns().length > 0 }
  }

  function query(sql: string, parameters: readonly SQLInputValue[]): QueryReply {
    const { statement, hasRows } = cachedStatement(queries, sql, () => prepareQuery(sql))
    if (!hasRows) return { columns: [], rows: [], changes: Number(statement.run(...parameters).changes) }
    const rows = statement.all(...parameters) as unknown as unknown[][]
    // Read after running: a statement prepared before its table changed reports the new columns only then.
    const columns = rows.length === 0 ? [] : statement.columns().map(({ name }) => name)
    return { columns, rows, changes: rows.length }
  }

  const changesByOthers = (): number =>
    (prepare('pragma data_version').get() as { data_version: number }).data_version
  const changesHere = (): number => (prepare('select total_changes() as n').get() as { n: number }).n

  async function runProcedure(module: string, input: unknown): Promise<unknown> {
    const run = procedures.get(module) ?? (await load(module))
    // A rollback that was never sent must not fail every later procedure.
    rollback()
    beginImmediate(database)
    try {
      // Read inside the transaction, so that nobody else can write before its end.
      const byOthers = changesByOthers()
      const before = changesHere()
      const isUnchanged = lastWriter?.module === module && lastWriter.changesByOthers === byOthers
      const unchangedSince = isUnchanged ? lastWriter!.unchangedSince : {}
      const output = run({ prepare, unchangedSince }, input)
      database.exec('commit')
      if (changesHere() > before) lastWriter = { module, unchangedSince, changesByOthers: byOthers }
      return output
    } catch (error) {
      lastWriter = undefined
      if (database.isTransaction) database.exec('rollback')
      throw error
    }
  }

  async function load(module: string): Promise<WriterProcedure> {
    const { run } = (await import(module)) as { run: WriterProcedure }
    procedures.set(module, run)
    return run
  }

  function throwIfLost(): void {
    if (firstError) throw firstError
  }

  function begin(): void {
    rollback()
    isInTransaction = true
    beginImmediate(database)
  }

  /** Rolls back if it fails: the next transaction may follow at once. */
  function commit(): void {
    try {
      throwIfLost()
      database.exec('commit')
      isInTransaction = false
    } catch (error) {
      rollback()
      throw error
    }
  }

  /** SQLite ends some transactions itself (for example if the disk is full). Then there is nothing to roll back. */
  function rollback(): void {
    isInTransaction = false
    firstError = undefined
    if (database.isTransaction) database.exec('rollback')
  }

  function close(): void {
    // The last connection to close copies the log into the file, so that the file alone is complete.
    statements.clear()
    queries.clear()
    database.close()
  }

  async function run(request: ThreadRequest): Promise<unknown> {
    switch (request.kind) {
      case 'query':
        throwIfLost()
        lastWriter = undefined
        return query(request.sql, request.parameters)
      case 'procedure':
        return runProcedure(request.module, request.input)
      case 'begin':
        return begin()
      case 'commit':
        return commit()
      case 'rollback':
        return rollback()
      case 'close':
        return close()
    }
  }

  async function replyTo(request: ThreadRequest): Promise<ThreadReply> {
    try {
      return { value: await run(request) }
    } catch (error) {
      const { message, errcode, stack } = error as Error & { errcode?: number }
      if (isInTransaction) firstError ??= error
      if (!readOnly && DISK_FULL.has((errcode ?? 0) & 0xff)) hasFailedForSpace = true
      return { error: { message, errcode, stack } }
    } finally {
      checkpointIfFull()
    }
  }

  async function answer(requests: readonly ThreadRequest[]): Promise<void> {
    const replies: ThreadReply[] = []
    for (const request of requests) replies.push(await replyTo(request))
    port.postMessage(replies)
  }

  // One message after the other, also while a module is being loaded.
  let answered = Promise.resolve()
  port.on('message', (requests: readonly ThreadRequest[]) => {
    answered = answered.then(() => answer(requests))
  })
  port.postMessage([{ value: 'open' }] satisfies ThreadReply[])
}

// The main thread imports this file too, so that it is compiled once for all threads.
if (!isMainThread && workerData?.isJetonThread === true) serve(parentPort!, workerData)
