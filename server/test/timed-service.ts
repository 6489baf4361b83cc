import { sql } from 'kysely'
import type { Database } from '../src/platform/database/index.ts'
import type { Log } from '../src/platform/log.ts'
import type { TestEngine } from './engines.ts'
import { startService, type TestService } from './service.ts'
import { TestClock } from './test-clock.ts'

/** A service in this process. On both engines its store has the same clock, which only the test moves. */
export interface TimedService extends TestService {
  readonly clock: TestClock
  /** Moves the time and starts the background jobs that fall due. */
  advance(ms: number): Promise<void>
  /** Moves the time without starting background jobs, which would fall due thousands of times in a long span. */
  jump(ms: number): Promise<void>
}

/** Replaces the function that PostgreSQL reads the time from. */
async function setStoreTime(db: Database, now: number): Promise<void> {
  if (db.engine !== 'postgres') return
  const text = `create or replace function jeton_now() returns bigint language sql as 'select ${Math.floor(now)}::bigint'`
  await db.withConnection((connection) => connection.query(text))
}

interface Options {
  readonly env?: Readonly<Record<string, string>>
  readonly log?: Log
  /** Whether the service also sends events. */
  readonly worker?: boolean
}

export async function startTimedService(
  engine: TestEngine,
  { env = {}, log, worker = true }: Options = {},
): Promise<TimedService> {
  // Ahead of the real time, which the store has until setStoreTime: the time of a service never goes back.
  const clock = new TestClock(Math.floor(Date.now() / 1000) * 1000 + 60_000)
  const settings = { ...(await engine.settings()), ...env }
  const service = await startService(settings, { clock, worker, ...(log && { log }) })
  const { db, changeFeed } = service.service
  await setStoreTime(db, clock.now())
  return {
    ...service,
    clock,
    async advance(ms) {
      await clock.advance(ms)
      await setStoreTime(db, clock.now())
    },
    async jump(ms) {
      clock.setNow(clock.now() + ms)
      await setStoreTime(db, clock.now())
      await changeFeed.pollChanges()
    },
  }
}

/** All rows by table, as text that tests search for secrets. Leaves out `last_used_at`, which is no change. */
export async function everythingIn(db: Database): Promise<Record<string, string[]>> {
  const names =
    db.engine === 'sqlite'
      ? sql<{ name: string }>`select name from sqlite_master where type = 'table'`
      : sql<{ name: string }>`select tablename as name from pg_tables where schemaname = 'public'`
  const reader = db.read<never>() as never
  const all = (await names.execute(reader)).rows.map(({ name }) => name)
  // Heartbeats change the rows of processes at any time.
  const tables = all.filter((name) => name !== 'processes').sort()
  const entries = tables.map(async (table) => {
    const { rows } = await sql<object>`select * from ${sql.table(table)}`.execute(reader)
    return [table, rows.map(rowText).sort()] as const
  })
  return Object.fromEntries(await Promise.all(entries))
}

/** Converts bytes to text, so that a search also finds a secret that was stored as bytes. */
const rowText = (row: object): string =>
  JSON.stringify(row, (name, value) => {
    if (name === 'last_used_at' || name === 'recent_addresses') return undefined
    const bytes = value?.type === 'Buffer' ? value.data : value instanceof Uint8Array ? value : undefined
    return bytes ? `${Buffer.from(bytes).toString('hex')} ${Buffer.from(bytes).toString('latin1')}` : value
  })
