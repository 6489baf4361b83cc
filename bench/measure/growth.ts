import { fillTokens } from '../fill-jeton.ts'
import { JETON_NAME, SUBJECTS, withSubject } from '../launch.ts'
import { shownCount, shownOutcome } from '../shown.ts'
import type { Engine } from '../stores.ts'
import { type Bench, medianOf, type Outcome, orNoResult } from './load-subject.ts'
import { issuing } from './throughput.ts'

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

/** Issuing with more and more active tokens in the store. */
export async function measureGrowth(bench: Bench, engine: Engine): Promise<GrowthRow[]> {
  const sizes: readonly number[] = bench.quick ? ACTIVE_TOKENS_QUICK : ACTIVE_TOKENS
  const found = new Map<number, Outcome[]>(sizes.map((size) => [size, []]))
  for (let i = 1; i <= bench.rounds; i++)
    for (const size of sizes) {
      const outcome = await issueAt(bench, engine, size)
      found.get(size)!.push(outcome)
      const label = `${SUBJECTS[JETON_NAME[engine]].label}, ${shownCount(size)} active tokens`
      bench.say(`growth ${i} of ${bench.rounds}: ${label}: issue ${shownOutcome(outcome)}`)
    }
  return sizes.map((activeTokens) => ({ engine, activeTokens, issue: medianOf(found.get(activeTokens)!) }))
}

function issueAt(bench: Bench, engine: Engine, activeTokens: number): Promise<Outcome> {
  const clients = bench.quick ? PROJECTS_QUICK : PROJECTS
  const fill = (store: Parameters<typeof fillTokens>[0]) => fillTokens(store, activeTokens / clients)
  return withSubject(bench.stores, JETON_NAME[engine], { clients, fill }, (subject) =>
    orNoResult(issuing(bench, subject)),
  )
}
