import { flushCompileCache } from 'node:module'
import { Worker } from 'node:worker_threads'
import { sibling } from '../../sibling.ts'
import { StoreUnavailable, UniqueConflict } from '../database.ts'
import './thread.ts'
import type { ThreadData, ThreadReply, ThreadRequest } from './thread.ts'

type Unnumbered<T> = T extends { id: number } ? Omit<T, 'id'> : never
interface Waiting {
  resolve(value: never): void
  reject(error: Error): void
}

/** Primary result codes of sqlite.org/rescode.html after which trying again makes sense: busy, locked, I/O, full. */
const UNAVAILABLE = new Set([5, 6, 10, 13, 14])
const CONSTRAINT_UNIQUE = new Set([1555, 2067])

function translate(error: {
  message: string
  errcode: number | undefined
  stack: string | undefined
}): Error {
  if (error.errcode !== undefined && CONSTRAINT_UNIQUE.has(error.errcode))
    return new UniqueConflict(error.message)
  if (error.errcode !== undefined && UNAVAILABLE.has(error.errcode & 0xff))
    return new StoreUnavailable(`SQLite: ${error.message}`)
  return Object.assign(new Error(`SQLite: ${error.message}`), { stack: error.stack })
}

/** The near end of a connection that lives on a thread of its own. */
export class SqliteConnection {
  readonly #worker: Worker
  readonly #waiting = new Map<number, Waiting>()
  #lastId = 0
  #gone: Error | undefined

  private constructor(worker: Worker) {
    this.#worker = worker
    worker.on('message', (reply: ThreadReply) => this.#settle(reply))
    worker.on('error', (error) =>
      this.#fail(new StoreUnavailable(`The SQLite thread ended: ${error.message}`)),
    )
    worker.on('exit', () => this.#fail(new StoreUnavailable('The SQLite thread has ended.')))
  }

  static async open(data: Omit<ThreadData, 'isJetonThread'>): Promise<SqliteConnection> {
    // What this process has compiled so far, the thread's own module included, is there for the thread: without it a
    // first start would load the type stripper once per thread, 17 MB each.
    flushCompileCache()
    const workerData: ThreadData = { ...data, isJetonThread: true }
    const worker = new Worker(sibling(import.meta.url, './thread'), { workerData })
    const connection = new SqliteConnection(worker)
    await new Promise<unknown>((resolve, reject) => connection.#waiting.set(0, { resolve, reject }))
    return connection
  }

  send<T>(request: Unnumbered<ThreadRequest>): Promise<T> {
    if (this.#gone) return Promise.reject(this.#gone)
    return new Promise<T>((resolve, reject) => {
      const id = ++this.#lastId
      this.#waiting.set(id, { resolve, reject })
      this.#worker.postMessage({ ...request, id })
    })
  }

  async close(): Promise<void> {
    const closing = this.#gone ? undefined : this.send({ kind: 'close' })
    this.#gone ??= new StoreUnavailable('The database is closed.')
    await closing?.catch(() => undefined)
    this.#fail(this.#gone)
    await this.#worker.terminate()
  }

  #settle(reply: ThreadReply): void {
    const waiting = this.#waiting.get(reply.id)
    this.#waiting.delete(reply.id)
    if ('error' in reply) waiting?.reject(translate(reply.error))
    else waiting?.resolve(reply.value as never)
  }

  #fail(error: Error): void {
    this.#gone ??= error
    for (const { reject } of this.#waiting.values()) reject(this.#gone)
    this.#waiting.clear()
  }
}
