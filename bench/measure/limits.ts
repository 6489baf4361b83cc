import { fillTokens } from '../fill-jeton.ts'
import { prepareProjects } from '../prepare-jeton.ts'
import { shownCount, shownMs } from '../shown.ts'
import type { Engine } from '../stores.ts'
import { type TimedJeton, withTimedJeton } from '../timed-jeton.ts'
import { tokenTableOf } from '../token-table.ts'
import { type Bench, type Measured, write } from './load-subject.ts'
import { CONNECTIONS } from './throughput.ts'
import { requestsOf } from './turnover.ts'

const PROJECTS = 1_000
const PROJECTS_QUICK = 100
const LIMIT = 1_000

export interface LimitRow {
  readonly engine: Engine
  readonly projects: number
  /** While nothing expires, every request is refused. */
  readonly refuse: Measured
  /** While tokens expire, each is replaced by whoever asks first, and the others are refused. */
  readonly replace: Measured & { readonly issuedPerSecond: number }
  /** Of the project that had the most in the end. */
  readonly mostActive: number
}

/** Every project has as many tokens as it may, and all go on asking. */
export async function measureLimits(bench: Bench, engine: Engine): Promise<LimitRow[]> {
  const projects = bench.quick ? PROJECTS_QUICK : PROJECTS
  const store = await bench.stores.fresh(engine)
  try {
    const clients = await prepareProjects(store, projects)
    await fillTokens(store, LIMIT)
    return await withTimedJeton(store, async (jeton) => {
      const file = write(bench, requestsOf(jeton.url, clients))
      await ask(bench, jeton, file)
      const { issuedPerSecond, ...refuse } = await ask(bench, jeton, file)
      if (issuedPerSecond > 0) throw new Error('tokens were issued beyond the limit')
      const table = tokenTableOf(store)
      // From then on each project loses some three a second.
      await jeton.advance((await table.firstExpiry()) - jeton.now())
      const replace = await jeton.whileTimePasses(1, () => ask(bench, jeton, file))
      const mostActive = await table.mostActive(jeton.now())
      await table.close()
      bench.say(
        `limits: ${engine}: ${shownCount(refuse.perSecond)} refused a second (p99 ${shownMs(refuse.p99Ms)}); ${shownCount(replace.perSecond)} answers while ${shownCount(replace.issuedPerSecond)} tokens are replaced (p99 ${shownMs(replace.p99Ms)})`,
      )
      return [{ engine, projects, refuse, replace, mostActive }]
    })
  } finally {
    await store.drop()
  }
}

async function ask(
  { generator, seconds }: Bench,
  jeton: TimedJeton,
  requestsFile: string,
): Promise<LimitRow['replace']> {
  const before = jeton.use()
  const found = await generator.run({ url: jeton.url, requestsFile, connections: CONNECTIONS, seconds })
  const after = jeton.use()
  const { answers, refused, failed } = found
  if (failed > 0) throw new Error(`${failed} requests got no answer`)
  return {
    perSecond: answers / found.seconds,
    issuedPerSecond: (answers - refused) / found.seconds,
    ...{ p50Ms: found.p50Ms, p99Ms: found.p99Ms },
    cpuMicros: (after.cpuMicros - before.cpuMicros) / answers,
    mainMicros: (after.mainMicros - before.mainMicros) / answers,
  }
}
