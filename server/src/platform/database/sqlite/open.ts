import { EventEmitter } from 'node:events'
import { accessSync, chmodSync, constants, existsSync, mkdirSync, statSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { userInfo } from 'node:os'
import { join, relative } from 'node:path'
import { Kysely, type Logger, sql } from 'kysely'
import type { Clock } from '../../clock.ts'
import { encryptionKeyFile } from '../../encryption-key.ts'
import { StartFailure } from '../../start-failure.ts'
import type { NotificationRelay, Reader, SqliteDatabase, Transaction } from '../database.ts'
import { Mutex } from '../mutex.ts'
import { PipelinedKysely } from '../transaction.ts'
import { sqliteDialect, WRITER_LOCK_TIMEOUT_MS } from './dialect.ts'
import { SqliteConnection } from './thread-connection.ts'

export const sqliteFile = (folder: string): string => join(folder, 'jeton.db')

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0

/**
 * State of the database file. `empty` is a file of 0 bytes that may become a store. `emptied` was a store before: its
 * write-ahead log or its encryption key is still there. SQLite takes both for a new database and deletes the log.
 */
export function sqliteFileState(folder: string): 'none' | 'empty' | 'emptied' | 'filled' {
  const file = sqliteFile(folder)
  if (!existsSync(file)) return 'none'
  if (sizeOf(file) > 0) return 'filled'
  return sizeOf(`${file}-wal`) > 0 || existsSync(encryptionKeyFile(folder)) ? 'emptied' : 'empty'
}

/** Path relative to the working directory, for messages. */
function shown(path: string): string {
  const fromHere = relative(process.cwd(), path)
  return fromHere.startsWith('..') ? path : `./${fromHere}`
}

function makeFolder(folder: string): void {
  try {
    // For the owner only, because the file contains digests of credentials.
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    accessSync(folder, constants.W_OK | constants.X_OK)
  } catch {
    const owner = existsSync(folder)
      ? ` (owned by uid ${statSync(folder).uid}, you are ${userInfo().username})`
      : ''
    throw new StartFailure(
      `Cannot write ${shown(folder)}${owner}. Use another folder: JETON_DATA_DIR=/var/lib/jeton`,
    )
  }
}

/** A start with an emptied file would hide the loss, and SQLite would delete the rest of the log. */
function refuseEmptied(folder: string): void {
  if (sqliteFileState(folder) !== 'emptied') return
  const file = shown(sqliteFile(folder))
  throw new StartFailure(
    `${file} is empty (0 bytes), but a store was here before: its log or its encryption key is beside it. Put the file back; or move ${file}* away, then restore a backup (jeton restore <file>) or start with a new store.`,
  )
}

async function openConnections(
  file: string,
  { inspect = false }: { inspect?: boolean | undefined },
): Promise<{ writer: SqliteConnection; reader: SqliteConnection }> {
  // Makes the modules compiled so far available to the threads. Otherwise a first start loads the type stripper once per
  // thread, 17 MB each.
  flushCompileCache()
  try {
    const writer = await SqliteConnection.open({ file, readOnly: false })
    if (!inspect) chmodSync(file, 0o600)
    return { writer, reader: await SqliteConnection.open({ file, readOnly: true }) }
  } catch (error) {
    throw new StartFailure(
      `Cannot open ${shown(file)}: ${(error as Error).message} Check that it is a Jeton database and writable, or use another folder: JETON_DATA_DIR=…`,
    )
  }
}

/** The write-ahead log cannot restart while a snapshot is open, so it grows by all writes meanwhile. */
async function readSnapshot<T>(file: string, work: (reader: Reader) => Promise<T>): Promise<T> {
  const connection = await SqliteConnection.open({ file, readOnly: true })
  const kysely = new Kysely<never>({ dialect: sqliteDialect(connection, { noTimeout: true }) })
  try {
    await sql`begin`.execute(kysely)
    // The first query fixes the state that the transaction sees.
    await sql`select 1 from sqlite_master limit 1`.execute(kysely)
    return await work({ read: () => kysely as never })
  } finally {
    await connection.close()
  }
}

interface Deps {
  readonly clock: Clock
  readonly notifications?: NotificationRelay | undefined
  /** Called after each statement. */
  readonly onQuery?: Logger | undefined
}

interface Where {
  readonly folder: string
  readonly inspect?: boolean | undefined
}

export async function openSqlite(
  { clock, notifications: relay, onQuery }: Deps,
  where: Where,
): Promise<SqliteDatabase> {
  if (!where.inspect) makeFolder(where.folder)
  refuseEmptied(where.folder)
  const file = sqliteFile(where.folder)
  const { writer, reader } = await openConnections(file, where)
  const mutex = new Mutex()
  const writing = new PipelinedKysely(sqliteDialect(writer, { mutex }), onQuery)
  const withoutTimeout = new PipelinedKysely(sqliteDialect(writer, { mutex, noTimeout: true }))
  const reading = new Kysely<never>({ dialect: sqliteDialect(reader), ...(onQuery && { log: onQuery }) })
  const topics = new EventEmitter().setMaxListeners(0)
  relay?.onReceived((topic) => topics.emit(topic))
  const now = async () => clock.now()

  return {
    engine: 'sqlite',
    label: `SQLite ${shown(file)}`,
    read: () => reading as never,
    now,
    async transaction(work, options) {
      const notified = new Set<string>()
      const result = await (options?.noTimeout ? withoutTimeout : writing).transaction(
        (kysely, statements) => {
          const tx = {
            read: () => kysely,
            write: () => kysely,
            lock: (query: unknown) => query,
            lockShared: (query: unknown) => query,
            claim: (query: unknown) => query,
            now,
            sendWithCommit: (answers: Promise<unknown>) => statements.sendWithCommit(answers),
            notify: async (topic: string) => void notified.add(topic),
          }
          return work(tx as never as Transaction)
        },
        options?.signal,
      )
      for (const topic of notified) {
        topics.emit(topic)
        relay?.send(topic)
      }
      return result
    },
    snapshot: (work) => readSnapshot(file, work),
    async runInWriter(module, input) {
      await mutex.share(WRITER_LOCK_TIMEOUT_MS)
      try {
        return await writer.send({ kind: 'procedure', module: module.href, input })
      } finally {
        mutex.leave()
      }
    },
    subscribe(topic, listener) {
      topics.on(topic, listener)
      return () => void topics.off(topic, listener)
    },
    async close() {
      // Waits for the current transaction, up to the timeout. Later ones fail.
      await mutex.acquire(WRITER_LOCK_TIMEOUT_MS).catch(() => undefined)
      await reader.close()
      await writer.close()
      mutex.release()
    },
  }
}
