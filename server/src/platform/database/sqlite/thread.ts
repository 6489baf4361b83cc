/**
 * Runs inside a worker thread and owns one connection, so that the event loop never waits for the disk.
 * Messages are answered in the order in which they come.
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
  | {
      readonly id: number
      readonly kind: 'query'
      readonly sql: string
      readonly parameters: readonly SQLInputValue[]
    }
  | { readonly id: number; readonly kind: 'begin' }
  | { readonly id: number; readonly kind: 'program'; readonly module: string; readonly input: unknown }
  | { readonly id: number; readonly kind: 'close' }

export type ThreadReply =
  | { readonly id: number; readonly value: unknown }
  | {
      readonly id: number
      readonly error: { message: string; errcode: number | undefined; stack: string | undefined }
    }

/** Rows without the names of their columns cross to the other thread in half of the time. */
export interface QueryReply {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly unknown[])[]
  readonly changes: number
}

export interface ProgramContext {
  /** Statements by their text, prepared once. */
  prepare(sql: string): StatementSync
  /**
   * The same as at its last run where nothing has been written since, by whichever process, but by the program itself: what
   * it then knew of the store is still true. Else another one.
   */
  readonly version: object
  /** For bytes that are part of the output: they move to the other thread instead of being copied, and are no longer here then. */
  move(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer>
}

/** What a request is answered with, and what moves with it. */
interface Answered {
  readonly value: unknown
  readonly moved: readonly ArrayBuffer[]
}

const NOTHING: readonly ArrayBuffer[] = []

type Program = (context: ProgramContext, input: unknown) => unknown

const STATEMENTS_KEPT = 300
/** Of those kept, the oldest goes when there are too many. */
function keptIn<T>(kept: Map<string, T>, sql: string, prepare: () => T): T {
  const known = kept.get(sql)
  if (known !== undefined) return known
  if (kept.size >= STATEMENTS_KEPT) kept.delete(kept.keys().next().value!)
  const prepared = prepare()
  kept.set(sql, prepared)
  return prepared
}

/** Not one that a program has prepared: its rows come without names. */
interface Query {
  readonly statement: StatementSync
  readonly hasRows: boolean
}

/** I/O errors (a limit on the size of files, say) and full. */
const NO_ROOM = new Set([10, 13])

function serve(port: MessagePort, { file, readOnly }: ThreadData): void {
  const database = new DatabaseSync(file, { readOnly, timeout: BUSY_TIMEOUT_MS })
  if (!readOnly) {
    database.exec('pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on')
    database.exec('pragma wal_autocheckpoint = 1000; pragma cache_size = -16000')
  }

  const statements = new Map<string, StatementSync>()
  const queries = new Map<string, Query>()
  const programs = new Map<string, Program>()
  /** The program that was the last to write here, with what it was told, and what others had written by then. */
  let last:
    | { readonly module: string; readonly version: object; readonly writtenByOthers: number }
    | undefined
  let isPressed = false

  /**
   * After a write that found no room: what the log holds is moved into the file, so that the log begins anew instead of
   * growing. Else a log that has met a limit of the disk would stay at it, with room left in the file.
   */
  function relieve(): void {
    if (!isPressed || database.isTransaction) return
    isPressed = false
    try {
      database.exec('pragma wal_checkpoint(passive)')
    } catch {
      // No room there either: the next write that fails tries again.
    }
  }

  const prepare = (sql: string): StatementSync => keptIn(statements, sql, () => database.prepare(sql))

  function prepareQuery(sql: string): Query {
    const statement = database.prepare(sql)
    statement.setReturnArrays(true)
    return { statement, hasRows: statement.columns().length > 0 }
  }

  function query(sql: string, parameters: readonly SQLInputValue[]): QueryReply {
    const { statement, hasRows } = keptIn(queries, sql, () => prepareQuery(sql))
    if (!hasRows) return { columns: [], rows: [], changes: Number(statement.run(...parameters).changes) }
    const rows = statement.all(...parameters) as unknown as unknown[][]
    // Asked afterwards: a statement that is older than a change of its table has the new columns only then.
    const columns = rows.length === 0 ? [] : statement.columns().map(({ name }) => name)
    return { columns, rows, changes: rows.length }
  }

  const changesByOthers = (): number =>
    (prepare('pragma data_version').get() as { data_version: number }).data_version
  const changesHere = (): number => (prepare('select total_changes() as n').get() as { n: number }).n

  async function program(module: string, input: unknown): Promise<Answered> {
    const run = programs.get(module) ?? (await load(module))
    beginImmediate(database)
    try {
      // Within the transaction, so that nobody else can write until its end.
      const writtenByOthers = changesByOthers()
      const writtenHere = changesHere()
      const isAsItWas = last?.module === module && last.writtenByOthers === writtenByOthers
      const version = isAsItWas ? last!.version : {}
      const moved: ArrayBuffer[] = []
      const move = (bytes: Uint8Array<ArrayBuffer>) => {
        moved.push(bytes.buffer)
        return bytes
      }
      const value = run({ prepare, version, move }, input)
      database.exec('commit')
      if (changesHere() > writtenHere) last = { module, version, writtenByOthers }
      return { value, moved }
    } catch (error) {
      last = undefined
      if (database.isTransaction) database.exec('rollback')
      throw error
    }
  }

  async function load(module: string): Promise<Program> {
    const { run } = (await import(module)) as { run: Program }
    programs.set(module, run)
    return run
  }

  async function answer(request: ThreadRequest): Promise<Answered> {
    if (request.kind === 'program') return program(request.module, request.input)
    return { value: answerPlainly(request), moved: NOTHING }
  }

  function answerPlainly(request: Exclude<ThreadRequest, { kind: 'program' }>): unknown {
    switch (request.kind) {
      case 'query':
        last = undefined
        return query(request.sql, request.parameters)
      case 'begin':
        return beginImmediate(database)
      case 'close':
        // The last connection to close writes the log into the file, so that the file alone is a whole copy.
        statements.clear()
        queries.clear()
        return database.close()
    }
  }

  port.on('message', async (request: ThreadRequest) => {
    const { id } = request
    try {
      const { value, moved } = await answer(request)
      port.postMessage({ id, value } satisfies ThreadReply, moved)
    } catch (caught) {
      const { message, errcode, stack } = caught as Error & { errcode?: number }
      if (!readOnly && NO_ROOM.has((errcode ?? 0) & 0xff)) isPressed = true
      port.postMessage({ id, error: { message, errcode, stack } } satisfies ThreadReply)
    }
    relieve()
  })
  port.postMessage({ id: 0, value: 'open' } satisfies ThreadReply)
}

// The main thread imports this file too, so that it is compiled once for all: see `connection.ts`.
if (!isMainThread && workerData?.isJetonThread === true) serve(parentPort!, workerData)
