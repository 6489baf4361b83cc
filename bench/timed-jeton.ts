import { type ChildProcess, fork } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { FromProcess, ToProcess } from '../server/test/service-process.ts'
import { connectSql } from '../server/test/sql.ts'
import { type TreeUse, treeUse } from './process-tree.ts'
import type { Store } from './stores.ts'

const ENTRY = fileURLToPath(new URL('../server/test/service-process.ts', import.meta.url))
const START_TRIES = 5
/** Real time between two moves of the clock: even 100 times as fast it moves by less than what the service may go without a look. */
const STEP_MS = 100

/** Jeton through the entry of the tests: its clock, and that of its store, move only when they are told to. */
export interface TimedJeton {
  readonly url: string
  now(): number
  use(): TreeUse
  advance(ms: number): Promise<void>
  /** Runs `work` while the time passes so many times as fast as it does. */
  whileTimePasses<T>(times: number, work: () => Promise<T>): Promise<T>
}

export async function withTimedJeton<T>(store: Store, work: (jeton: TimedJeton) => Promise<T>): Promise<T> {
  let now = Date.now()
  const setStoreTime = storeClock(store)
  const env = { PATH: process.env.PATH, NODE_ENV: 'production', ...store.env, TEST_NOW: String(now) }
  // The store first: a process that read its real time would run ahead of it from then on.
  await setStoreTime.set(now)
  const { child, url } = await start(env)
  try {
    async function advance(ms: number): Promise<void> {
      now += ms
      const answer = heard(child)
      child.send({ kind: 'advance', ms } satisfies ToProcess)
      await answer
      // The store last: a process that had read its new time half way would run ahead of it.
      await setStoreTime.set(now)
    }
    return await work({
      url,
      now: () => now,
      use: () => treeUse(child.pid!),
      advance,
      whileTimePasses: (times, during) => passing(() => advance(STEP_MS * times), during),
    })
  } finally {
    child.kill('SIGKILL')
    await setStoreTime.close()
  }
}

/**
 * A store that is busy with what it was filled with may answer late. The service would try again after a pause, but on a
 * clock that stands still it ends: so it is started again.
 */
async function start(env: NodeJS.ProcessEnv): Promise<{ child: ChildProcess; url: string }> {
  for (let tries = START_TRIES; ; tries--) {
    const child = fork(ENTRY, { env, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
    const ready = await heard(child).catch((error: Error) => error)
    if (!(ready instanceof Error) && ready.kind === 'ready') return { child, url: ready.url }
    if (tries === 1) throw new Error('the service did not start', { cause: ready })
  }
}

async function passing<T>(step: () => Promise<void>, work: () => Promise<T>): Promise<T> {
  let over = false
  async function pass(): Promise<void> {
    for (let next = performance.now() + STEP_MS; !over; next += STEP_MS) {
      await wait(Math.max(0, next - performance.now()))
      await step()
    }
  }
  const passes = pass()
  try {
    return await work()
  } finally {
    over = true
    await passes
  }
}

function heard(child: ChildProcess): Promise<FromProcess> {
  return new Promise((resolve, reject) => {
    const ended = () => reject(new Error('the service has ended'))
    child.once('exit', ended)
    child.once('message', (message: FromProcess) => {
      child.off('exit', ended)
      if (message.kind === 'failed') reject(new Error(message.message))
      else resolve(message)
    })
  })
}

/** PostgreSQL tells the time by a function of ours, which may be replaced; on SQLite the process tells it. */
function storeClock({ databaseUrl }: Store): { set(now: number): Promise<void>; close(): Promise<void> } {
  if (databaseUrl === undefined) return { set: async () => undefined, close: async () => undefined }
  const sql = connectSql(databaseUrl)
  return {
    async set(now) {
      await sql.run(
        `create or replace function jeton_now() returns bigint language sql as 'select ${Math.floor(now)}::bigint'`,
      )
    },
    close: () => sql.end(),
  }
}
