import { fillTokens } from '../fill-jeton.ts'
import { JETON_NAME, SUBJECTS, withSubject } from '../launch.ts'
import type { Subject } from '../run-subject.ts'
import { shownCount, shownOutcome } from '../shown.ts'
import type { Engine } from '../stores.ts'
import { type Bench, issueTraffic, loadFor, medianOf, type Outcome } from './load-subject.ts'
import { CONNECTIONS, slicesOf } from './throughput.ts'

/** So many that a million tokens fill their projects by half, and issuing goes into the very same projects. */
const PROJECTS = 2_000
const PROJECTS_QUICK = 400
export const ACTIVE_TOKENS = [0, 100_000, 1_000_000] as const
export const ACTIVE_TOKENS_QUICK = [0, 20_000, 100_000] as const

export interface GrowthRow {
  readonly engine: Engine
  readonly activeTokens: number
  readonly issue: Outcome
}

/** Issuing with more and more active tokens in the store; slice by slice in turn, so that what disturbs one disturbs all. */
export async function measureGrowth(bench: Bench, engine: Engine): Promise<GrowthRow[]> {
  const sizes: readonly number[] = bench.quick ? ACTIVE_TOKENS_QUICK : ACTIVE_TOKENS
  const found = new Map<number, Outcome[]>(sizes.map((size) => [size, []]))
  for (let i = 1; i <= bench.rounds; i++) {
    await withActive(bench, engine, sizes, (subjects) => inTurn(bench, subjects, found)).catch(
      (error: Error) => {
        for (const outcomes of found.values()) outcomes.push({ noResult: error.message })
      },
    )
    for (const [size, outcomes] of found) {
      const label = `${SUBJECTS[JETON_NAME[engine]].label}, ${shownCount(size)} active tokens`
      bench.say(`growth ${i} of ${bench.rounds}: ${label}: issue ${shownOutcome(medianOf(outcomes))}`)
    }
  }
  return sizes.map((activeTokens) => ({ engine, activeTokens, issue: medianOf(found.get(activeTokens)!) }))
}

type Subjects = ReadonlyMap<number, Subject>

/** All of them at once, each with so many active tokens. */
function withActive(
  bench: Bench,
  engine: Engine,
  [size, ...others]: readonly number[],
  work: (subjects: Subjects) => Promise<void>,
  subjects: Subjects = new Map(),
): Promise<void> {
  if (size === undefined) return work(subjects)
  const clients = bench.quick ? PROJECTS_QUICK : PROJECTS
  const fill = (store: Parameters<typeof fillTokens>[0]) => fillTokens(store, size / clients)
  return withSubject(bench.stores, JETON_NAME[engine], { clients, fill }, (subject) =>
    withActive(bench, engine, others, work, new Map([...subjects, [size, subject]])),
  )
}

async function inTurn(bench: Bench, subjects: Subjects, found: Map<number, Outcome[]>): Promise<void> {
  const { slices, seconds } = slicesOf(bench.seconds)
  const runs: ((forSeconds: number) => Promise<Outcome>)[] = []
  for (const subject of subjects.values()) {
    const load = { traffic: await issueTraffic(bench, subject), connections: CONNECTIONS }
    runs.push(async (forSeconds) => (await loadFor(bench, subject, [load], forSeconds))[0]!)
  }
  for (const run of runs) await run(bench.warmUpSeconds)
  const sizes = [...subjects.keys()]
  for (let i = 0; i < slices; i++)
    for (const [at, run] of runs.entries()) found.get(sizes[at]!)!.push(await run(seconds))
}
