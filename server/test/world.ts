import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { TestEngine, TestStore } from './engines.ts'
import { type Client, clientOf } from './service.ts'
import type { FromProcess, ToProcess } from './service-process.ts'
import { connectSql } from './sql.ts'

const ENTRY = fileURLToPath(new URL('./service-process.ts', import.meta.url))

/** Several processes on one store, with one time that the test moves: PostgreSQL's own clock included. */
export interface World {
  readonly processes: readonly WorldProcess[]
  /** The store that they share. */
  readonly store: TestStore
  now(): number
  /** Moves the time of every process and of the store. */
  advance(ms: number): Promise<void>
  /** Sets PostgreSQL's clock alone, as when its machine's jumps. With SQLite every process tells the store's time itself. */
  setStoreTime(now: number): Promise<void>
  /** One more process, whose machine's clock may be ahead (or behind), with settings of its own. */
  start(options?: StartOptions): Promise<WorldProcess>
  close(): Promise<void>
}

interface StartOptions {
  readonly clockAheadMs?: number
  readonly env?: Readonly<Record<string, string>>
}

export interface WorldProcess extends Client {
  readonly child: ChildProcess
  tell(message: ToProcess): Promise<void>
  /** Reads what changed lately, as it would within a second. */
  look(): Promise<void>
}

async function startProcess(env: Readonly<Record<string, string>>, now: number): Promise<WorldProcess> {
  const child = fork(ENTRY, {
    env: { ...process.env, ...env, TEST_NOW: String(now) },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const ready = await heard(child)
  if (ready.kind !== 'ready') throw new Error('the process did not start')
  let turn: Promise<unknown> = Promise.resolve()
  const tell = (message: ToProcess): Promise<void> => {
    const told = turn.then(async () => {
      const answer = heard(child)
      child.send(message)
      const { kind, ...rest } = await answer
      if (kind === 'failed') throw new Error((rest as { message: string }).message)
    })
    turn = told.catch(() => undefined)
    return told
  }
  return { ...clientOf(ready.url), child, tell, look: () => tell({ kind: 'look' }) }
}

function heard(child: ChildProcess): Promise<FromProcess> {
  return new Promise((resolve, reject) => {
    const ended = () => reject(new Error('the process has ended'))
    child.once('exit', ended)
    child.once('message', (message: FromProcess) => {
      child.off('exit', ended)
      resolve(message)
    })
  })
}

/** And gone: what it has open would be in the way of whoever removes the store. */
function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
  return new Promise((resolve) => {
    child.once('exit', () => resolve())
    child.kill('SIGKILL')
  })
}

/** PostgreSQL tells the time by a function of ours, which a test may replace. Always by the same connection: it is done often. */
function storeClock(url: string | undefined) {
  const sql = url === undefined ? undefined : connectSql(url)
  return {
    async set(now: number): Promise<void> {
      await sql?.run(
        `create or replace function jeton_now() returns bigint language sql as 'select ${Math.floor(now)}::bigint'`,
      )
    },
    end: async () => void (await sql?.end()),
  }
}

export async function createWorld(
  engine: TestEngine,
  processes: number,
  env: Record<string, string> = {},
): Promise<World> {
  const store = await engine.freshStore()
  const storeTime = storeClock(store.env.JETON_DATABASE_URL)
  let now = Date.UTC(2026, 0, 15, 12)
  const running: WorldProcess[] = []

  async function start({ clockAheadMs = 0, env: own = {} }: StartOptions = {}): Promise<WorldProcess> {
    const process = await startProcess({ ...store.env, ...env, ...own }, now + clockAheadMs)
    running.push(process)
    return process
  }

  await storeTime.set(now)
  // The first one alone: it makes the tables.
  await start()
  await Promise.all(Array.from({ length: processes - 1 }, () => start()))
  return {
    processes: running,
    store,
    now: () => now,
    start,
    setStoreTime: storeTime.set,
    async advance(ms) {
      now += ms
      // The store last: a process that read its new time half way would then run ahead of it, and never goes back.
      await Promise.all(running.map((process) => process.tell({ kind: 'advance', ms })))
      await storeTime.set(now)
    },
    async close() {
      await Promise.all(running.map(({ child }) => killed(child)))
      await storeTime.end()
      await store.drop()
    },
  }
}
