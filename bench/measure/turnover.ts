import { setTimeout as wait } from 'node:timers/promises'
import { connectSql } from '../../server/test/sql.ts'
import { rawRequest } from '../load/requests.ts'
import { type JetonClient, prepareProjects } from '../prepare-jeton.ts'
import { shownCount, shownMb } from '../shown.ts'
import type { Engine, Store } from '../stores.ts'
import { ISSUE_BODY, pairOf, TOKEN_SECONDS } from '../subjects/protocol.ts'
import { type TimedJeton, withTimedJeton } from '../timed-jeton.ts'
import { type TokenTable, tokenTableOf } from '../token-table.ts'
import { type Bench, type Measured, median, write } from './load-subject.ts'
import { CONNECTIONS } from './throughput.ts'

/**
 * Time passes 16 times as fast: a token lives for a minute, and so many are issued in about five lives. Much faster, and
 * what the service does every second would outweigh what it is asked.
 */
const FULL = { tokens: 2_000_000, projects: 2_000, seconds: 12, times: 16 }
const QUICK = { tokens: 80_000, projects: 400, seconds: 2, times: 100 }
/** The janitor has had its turn as well. */
const LIFE_SECONDS = TOKEN_SECONDS + 120
/** How often in vain, and how far, the time is moved until the last token is gone. */
const TRIES = 400
const TRY_MS = 10_000

/** One stretch of issuing, and the store after it. */
export interface TurnoverPoint extends Measured {
  /** Processor time of PostgreSQL for one token. */
  readonly storeMicros: number
  /** Since the beginning. */
  readonly issued: number
  readonly storeBytes: number
  /** In the store: those that are active, and those that the janitor has not come to. */
  readonly tokens: number
  /** Whether tokens have been going as long as others came. */
  readonly isSettled: boolean
}

export interface TurnoverRow {
  readonly engine: Engine
  readonly points: readonly TurnoverPoint[]
  /** Tokens in the store once all have expired. */
  readonly left: number
}

/** Issues until two million tokens have come and gone. */
export async function measureTurnover(bench: Bench, engine: Engine): Promise<TurnoverRow[]> {
  const size = bench.quick ? QUICK : FULL
  const store = await bench.stores.fresh(engine)
  try {
    const clients = await prepareProjects(store, size.projects)
    const row = await withAutovacuum(store, size.times, () =>
      withTimedJeton(store, async (jeton) => {
        const table = tokenTableOf(store)
        try {
          const points = await issueAll(bench, { engine, size, jeton, table, clients })
          return { engine, points, left: await tokensLeft(jeton, table) }
        } finally {
          await table.close()
        }
      }),
    )
    bench.say(`turnover: ${engine}: ${shownCount(row.left)} tokens left after all have expired`)
    return [row]
  } finally {
    await store.drop()
  }
}

interface Issuing {
  readonly engine: Engine
  readonly size: typeof FULL
  readonly jeton: TimedJeton
  readonly table: TokenTable
  readonly clients: readonly JetonClient[]
}

async function issueAll(bench: Bench, issuing: Issuing): Promise<TurnoverPoint[]> {
  const { size, jeton, table, clients, engine } = issuing
  const began = jeton.now()
  const file = write(bench, requestsOf(jeton.url, clients))
  const points: TurnoverPoint[] = []
  for (let issued = 0; issued < size.tokens; ) {
    const isSettled = jeton.now() - began > LIFE_SECONDS * 1_000
    const { answers, ...measured } = await stretch(bench, issuing, file)
    issued += answers
    const [storeBytes, tokens] = [await table.bytes(), await table.tokens()]
    points.push({ ...measured, issued, storeBytes, tokens, isSettled })
    bench.say(
      `turnover: ${engine}: ${shownCount(issued)} issued, ${shownCount(tokens)} there, ${shownMb(storeBytes)}, ${shownCount(measured.perSecond)}/s, ${(measured.cpuMicros + measured.storeMicros).toFixed(0)} µs each`,
    )
  }
  return points
}

export const requestsOf = (url: string, clients: readonly JetonClient[]): string[] =>
  clients.map((client) =>
    rawRequest(url, { path: '/v1/oauth/token', headers: pairOf(client), body: ISSUE_BODY }),
  )

async function stretch(
  { generator }: Bench,
  { size, jeton, table }: Issuing,
  requestsFile: string,
): Promise<Measured & Pick<TurnoverPoint, 'storeMicros'> & { answers: number }> {
  const [before, storeBefore] = [jeton.use(), await table.cpuMicros()]
  const task = { url: jeton.url, requestsFile, connections: CONNECTIONS, seconds: size.seconds }
  const found = await jeton.whileTimePasses(size.times, () => generator.run(task))
  const [after, storeAfter] = [jeton.use(), await table.cpuMicros()]
  const { answers, refused, failed, seconds, p50Ms, p99Ms } = found
  if (refused + failed > 0)
    throw new Error(`${refused} of ${answers} requests were refused, ${failed} failed`)
  return {
    ...{ answers, p50Ms, p99Ms, perSecond: answers / seconds },
    cpuMicros: (after.cpuMicros - before.cpuMicros) / answers,
    mainMicros: (after.mainMicros - before.mainMicros) / answers,
    storeMicros: (storeAfter - storeBefore) / answers,
  }
}

/** Nothing is issued any more, and the time goes on, for as long as there are fewer now and then. */
async function tokensLeft(jeton: TimedJeton, table: TokenTable): Promise<number> {
  let left = await table.tokens()
  for (let tries = 0; tries < TRIES && left > 0; tries++) {
    await jeton.advance(TRY_MS)
    await wait(20)
    const found = await table.tokens()
    if (found < left) tries = 0
    left = found
  }
  return left
}

/** PostgreSQL looks once a minute for what it should clean: a minute of the time that passes here. */
async function withAutovacuum<T>({ databaseUrl }: Store, times: number, work: () => Promise<T>): Promise<T> {
  if (databaseUrl === undefined) return work()
  const sql = connectSql(databaseUrl)
  const naptime = (text: string) =>
    sql.run(`alter system ${text}`).then(() => sql.run('select pg_reload_conf()'))
  try {
    await naptime(`set autovacuum_naptime = ${Math.max(1, Math.round(60 / times))}`)
    return await work()
  } finally {
    await naptime('reset autovacuum_naptime')
    await sql.end()
  }
}

/** Of the service and of its store, what they do in the background included. Other work disturbs it less than the rate. */
export const costOf = ({ cpuMicros, storeMicros }: TurnoverPoint): number => cpuMicros + storeMicros

/** Of the settled stretches, the first and the last third: what grows with what has come and gone differs between them. */
export function drift({ points }: TurnoverRow): { cost: number; bytes: number } | undefined {
  const settled = points.filter((point) => point.isSettled)
  const third = Math.ceil(settled.length / 3)
  if (settled.length < 2) return undefined
  const ratio = (pick: (point: TurnoverPoint) => number) =>
    median(settled.slice(-third).map(pick)) / median(settled.slice(0, third).map(pick))
  return { cost: ratio(costOf), bytes: ratio(({ storeBytes }) => storeBytes) }
}
