import { Worker } from 'node:worker_threads'
import { sibling } from '../../sibling.ts'
import { NotNullViolation, StoreNotWritable, StoreUnavailable, UniqueConflict } from '../database.ts'
import { QUERY_TIMEOUT_MS } from '../deadline.ts'
import './thread.ts'
import type { ThreadData, ThreadReply, ThreadRequest } from './thread.ts'

interface Pending {
  readonly request: ThreadRequest | undefined
  resolve(value: never): void
  reject(error: unknown): void
  readonly timer?: NodeJS.Timeout
}

/**
 * Primary result codes (sqlite.org/rescode.html) after which a retry makes sense: busy, locked, no memory, read-only (after
 * disk errors), I/O, full, cannot open, locking.
 */
const UNAVAILABLE = new Set([5, 6, 7, 8, 10, 13, 14, 15])
/** Those that affect writes only: read-only, full, and I/O errors of write, sync and truncate. */
const NOT_WRITABLE = new Map<number, StoreNotWritable['why']>([
  [8, 'the store is read-only'],
  [13, 'the disk is full'],
  ...[778, 1034, 1546].map((code) => [code, 'the disk does not take writes'] as const),
])
/** Above this number of unanswered requests callers get 503, to limit memory. */
const MAX_PENDING = 10_000
/** Maximum wait for a thread that does not answer when closing. */
const CLOSE_TIMEOUT_MS = 5_000
const CONSTRAINT_UNIQUE = new Set([1555, 2067])
const CONSTRAINT_NOT_NULL = 1299

function translate(error: {
  message: string
  errcode: number | undefined
  stack: string | undefined
}): Error {
  if (error.errcode !== undefined && CONSTRAINT_UNIQUE.has(error.errcode))
    return new UniqueConflict(error.message)
  if (error.errcode === CONSTRAINT_NOT_NULL) return new NotNullViolation(error.message)
  const code = error.errcode ?? 0
  const why = NOT_WRITABLE.get(code) ?? NOT_WRITABLE.get(code & 0xff)
  if (why) return new StoreNotWritable(`SQLite: ${error.message}`, why)
  if (error.errcode !== undefined && UNAVAILABLE.has(error.errcode & 0xff))
    return new StoreUnavailable(`SQLite: ${error.message}`)
  return Object.assign(new Error(`SQLite: ${error.message}`), { stack: error.stack })
}

/** Main-thread side of a SQLite connection in a worker thread. */
export class SqliteConnection {
  readonly #worker: Worker
  /** Requests of this turn of the event loop. They are sent in one message, and so are their replies. */
  #unsent: Pending[] = []
  /** Messages without a reply, oldest first. */
  readonly #sent: Pending[][] = []
  #pendingCount = 0
  #gone: Error | undefined

  private constructor(worker: Worker) {
    this.#worker = worker
    worker.on('message', (replies: readonly ThreadReply[]) => this.#settle(replies))
    worker.on('error', (error) =>
      this.#fail(new StoreUnavailable(`The SQLite thread ended: ${error.message}`)),
    )
    worker.on('exit', () => this.#fail(new StoreUnavailable('The SQLite thread has ended.')))
  }

  static async open(data: Omit<ThreadData, 'isJetonThread'>): Promise<SqliteConnection> {
    const workerData: ThreadData = { ...data, isJetonThread: true }
    const worker = new Worker(sibling(import.meta.url, './thread'), { workerData })
    const connection = new SqliteConnection(worker)
    // The first message of the thread reports that the file is open.
    await new Promise<unknown>((resolve, reject) =>
      connection.#sent.push([{ request: undefined, resolve, reject }]),
    )
    return connection
  }

  /**
   * A timeout rejects the promise but cannot withdraw the request: the thread still runs it, in order. So a caller that times
   * out inside a transaction sends a rollback.
   */
  send<T>(request: ThreadRequest, timeoutMs = QUERY_TIMEOUT_MS): Promise<T> {
    if (this.#gone) return Promise.reject(this.#gone)
    if (this.#pendingCount >= MAX_PENDING && request.kind !== 'rollback') {
      // The transaction must not stay open, and the next one may follow at once.
      if (request.kind === 'commit') this.send({ kind: 'rollback' }).catch(() => undefined)
      return Promise.reject(new StoreUnavailable('SQLite: too many requests are waiting for the disk.'))
    }
    return new Promise<T>((resolve, reject) => {
      const onTimeout = () =>
        reject(new StoreUnavailable(`SQLite did not answer within ${timeoutMs / 1000} s.`))
      this.#pendingCount++
      this.#unsent.push({ request, resolve, reject, timer: setTimeout(onTimeout, timeoutMs) })
      // Runs after the promises that are ready now.
      if (this.#unsent.length === 1) process.nextTick(() => this.#flush())
    })
  }

  async close(): Promise<void> {
    const closing = this.#gone ? undefined : this.send({ kind: 'close' }, CLOSE_TIMEOUT_MS)
    this.#gone ??= new StoreUnavailable('The database is closed.')
    await closing?.catch(() => undefined)
    this.#fail(this.#gone)
    await this.#worker.terminate()
  }

  #flush(): void {
    const batch = this.#unsent
    this.#unsent = []
    if (batch.length === 0) return
    try {
      this.#worker.postMessage(batch.map(({ request }) => request))
      this.#sent.push(batch)
    } catch (error) {
      // A value cannot be copied. All requests fail, because a commit must not be sent without a statement before it.
      for (const pending of batch) this.#drop(pending).reject(error)
      // A rollback may have been among them, and an open transaction would lock out every other writer.
      this.send({ kind: 'rollback' }).catch(() => undefined)
    }
  }

  #settle(replies: readonly ThreadReply[]): void {
    const batch = this.#sent.shift()
    batch?.forEach((pending, i) => {
      const reply = replies[i]!
      this.#drop(pending)
      if ('error' in reply) pending.reject(translate(reply.error))
      else pending.resolve(reply.value as never)
    })
  }

  #drop(pending: Pending): Pending {
    this.#pendingCount--
    clearTimeout(pending.timer)
    return pending
  }

  #fail(error: Error): void {
    this.#gone ??= error
    for (const pending of [...this.#sent.splice(0).flat(), ...this.#unsent.splice(0)])
      this.#drop(pending).reject(this.#gone)
  }
}
