import { EventEmitter } from 'node:events'
import { accessSync, chmodSync, constants, existsSync, mkdirSync, statSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { userInfo } from 'node:os'
import { relative } from 'node:path'
import { Kysely, sql } from 'kysely'
import type { Clock } from '../../clock.ts'
import { StartFailure } from '../../start-failure.ts'
import type { Reader, SqliteDatabase, Transaction, WakeRelay } from '../database.ts'
import { Mutex } from '../mutex.ts'
import { SqliteConnection } from './connection.ts'
import { sqliteDialect, TURN_WITHIN_MS } from './dialect.ts'
import { sqliteFile, sqliteFileState } from './file-state.ts'

/** As a person would type it from here. */
function shown(path: string): string {
  const near = relative(process.cwd(), path)
  return near.startsWith('..') ? path : `./${near}`
}

function makeFolder(folder: string): void {
  try {
    // Only the owner: the file holds digests of credentials.
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

/** A start that went on with an empty file would hide the loss, and have SQLite delete what is left in the log. */
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
  // What this process has compiled so far, the thread's own module included, is there for the threads: without it a first
  // start would load the type stripper once per thread, 17 MB each.
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

/** While it is open the log cannot begin anew, so it grows by what is written meanwhile. */
async function readSnapshot<T>(file: string, work: (reader: Reader) => Promise<T>): Promise<T> {
  const connection = await SqliteConnection.open({ file, readOnly: true })
  const kysely = new Kysely<never>({ dialect: sqliteDialect(connection, { patient: true }) })
  try {
    await sql`begin`.execute(kysely)
    // A transaction begins with what its first query sees.
    await sql`select 1 from sqlite_master limit 1`.execute(kysely)
    return await work({ read: () => kysely as never })
  } finally {
    await connection.close()
  }
}

interface Deps {
  readonly clock: Clock
  readonly wakes?: WakeRelay | undefined
}

interface Where {
  readonly folder: string
  readonly inspect?: boolean | undefined
}

export async function openSqlite({ clock, wakes: relay }: Deps, where: Where): Promise<SqliteDatabase> {
  if (!where.inspect) makeFolder(where.folder)
  refuseEmptied(where.folder)
  const file = sqliteFile(where.folder)
  const { writer, reader } = await openConnections(file, where)
  const mutex = new Mutex()
  const writing = new Kysely<never>({ dialect: sqliteDialect(writer, { mutex }) })
  const patient = new Kysely<never>({ dialect: sqliteDialect(writer, { mutex, patient: true }) })
  const reading = new Kysely<never>({ dialect: sqliteDialect(reader) })
  const wakes = new EventEmitter().setMaxListeners(0)
  relay?.onHeard((topic) => wakes.emit(topic))
  const now = async () => clock.now()

  return {
    engine: 'sqlite',
    label: `SQLite ${shown(file)}`,
    read: () => reading as never,
    now,
    async transaction(work, options) {
      const woken = new Set<string>()
      const result = await (options?.patient ? patient : writing).transaction().execute((kysely) => {
        const tx = {
          read: () => kysely,
          write: () => kysely,
          lock: (query: unknown) => query,
          claim: (query: unknown) => query,
          now,
          wake: async (topic: string) => void woken.add(topic),
        }
        return work(tx as never as Transaction)
      })
      for (const topic of woken) {
        wakes.emit(topic)
        relay?.send(topic)
      }
      return result
    },
    snapshot: (work) => readSnapshot(file, work),
    /** A whole transaction by one message: the thread need not wait for us between two of them. */
    async runProgram(module, input) {
      await mutex.share(TURN_WITHIN_MS)
      try {
        return await writer.send({ kind: 'program', module: module.href, input })
      } finally {
        mutex.leave()
      }
    },
    onWake(topic, heard) {
      wakes.on(topic, heard)
      return () => void wakes.off(topic, heard)
    },
    async close() {
      // Waits for the transaction under way, but not for ever; what comes after fails.
      await mutex.acquire(TURN_WITHIN_MS).catch(() => undefined)
      await reader.close()
      await writer.close()
      mutex.release()
    },
  }
}
