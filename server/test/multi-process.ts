import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { TestEngine, TestStore } from './engines.ts'
import { type Client, clientOf } from './service.ts'
import type { FromProcess, ToProcess } from './service-process.ts'
import { connectSql } from './sql.ts'

const ENTRY = fileURLToPath(new URL('./service-process.ts', import.meta.url))

/** Several service processes that share one store and one time, which the test moves, including PostgreSQL's clock. */
export interface MultiProcess {
  readonly processes: readonly ServiceProcess[]
  /** The shared store. */
  readonly store: TestStore
  now(): number
  /** Moves the time of every process and of the store. */
  advance(ms: number): Promise<void>
  /** Sets only PostgreSQL's clock, as if the clock of its machine jumped. With SQLite each process is the clock of its store. */
  setStoreTime(now: number): Promise<void>
  /** Starts another process, whose clock may be ahead or behind, with settings of its own. */
  start(options?: StartOptions): Promise<ServiceProcess>
  /** Ends a process with SIGKILL. */
  kill(process: ServiceProcess): Promise<void>
  close(): Promise<void>
}

interface StartOptions {
  readonly clockAheadMs?: number
  readonly env?: Readonly<Record<string, string>>
}

export interface ServiceProcess extends Client {
  readonly child: ChildProcess
  send(message: ToProcess): Promise<void>
  /** Reads recent changes, which a process otherwise does every second. */
  pollChanges(): Promise<void>
}

async function startProcess(env: Readonly<Record<string, string>>, now: number): Promise<ServiceProcess> {
  const child = fork(ENTRY, {
    env: { ...process.env, ...env, TEST_NOW: String(now) },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const ready = await heard(child)
  if (ready.kind !== 'ready') throw new Error('the process did not start')
  let turn: Promise<unknown> = Promise.resolve()
  const send = (message: ToProcess): Promise<void> => {
    const told = turn.then(async () => {
      const answer = heard(child)
      child.send(message)
      const { kind, ...rest } = await answer
      if (kind === 'failed') throw new Error((rest as { message: string }).message)
    })
    turn = told.catch(() => undefined)
    return told
  }
  return { ...clientOf(ready.url), child, send, pollChanges: () => send({ kind: 'poll-changes' }) }
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

/** Kills the process and waits for its end, since its open files would block the removal of the store. */
function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
  return new Promise((resolve) => {
    child.once('exit', () => resolve())
    child.kill('SIGKILL')
  })
}

/** Replaces the function that PostgreSQL reads the time from. One connection is kept, since tests do this often. */
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

export async function startProcesses(
  engine: TestEngine,
  processes: number,
  env: Record<string, string> = {},
): Promise<MultiProcess> {
  const store = await engine.freshStore()
  const storeTime = storeClock(store.env.JETON_DATABASE_URL)
  let now = Date.UTC(2026, 0, 15, 12)
  const running: ServiceProcess[] = []

  async function start({ clockAheadMs = 0, env: own = {} }: StartOptions = {}): Promise<ServiceProcess> {
    const process = await startProcess({ ...store.env, ...env, ...own }, now + clockAheadMs)
    running.push(process)
    return process
  }

  await storeTime.set(now)
  // The first process starts alone, since it creates the first rows.
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
      // The store last: a process that read the store's new time early would run ahead, and never goes back.
      await Promise.all(running.map((process) => process.send({ kind: 'advance', ms })))
      await storeTime.set(now)
    },
    async kill(process) {
      running.splice(running.indexOf(process), 1)
      await killed(process.child)
    },
    async close() {
      await Promise.all(running.map(({ child }) => killed(child)))
      await storeTime.end()
      await store.drop()
    },
  }
}
