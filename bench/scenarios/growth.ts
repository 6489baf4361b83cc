import { type Bench, compare, type Row, runSlice } from '../compare.ts'
import { fillTokens } from '../jeton/tokens.ts'
import { TRAFFIC } from '../requests.ts'
import type { Engine, Store } from '../stores.ts'
import type { Subject } from '../subject.ts'
import { jetonOn, withSubject } from '../subjects.ts'
import { targetOf } from '../targets.ts'
import { CONNECTIONS } from './requests-per-second.ts'

/** A million tokens fill half of what these projects may have. The load issues into the same projects. */
const PROJECTS = 2_000
const TOKENS_PER_PROJECT = 500
const TOKENS_PER_PROJECT_QUICK = 50
/** The first requests load 2,000 keys. */
const MIN_SECONDS = 2

/** Compares issuing with a million active tokens in the store to issuing into an empty store. */
export function measureGrowth(bench: Bench, engine: Engine): Promise<Row> {
  const description = jetonOn(engine)
  const each = bench.quick ? TOKENS_PER_PROJECT_QUICK : TOKENS_PER_PROJECT
  const seconds = Math.max(MIN_SECONDS, bench.seconds)
  const fill = (store: Store) => fillTokens(store, each)
  const sliceOf = async (subject: Subject) => {
    const loads = [{ traffic: await TRAFFIC.issue(subject), connections: CONNECTIONS }]
    return async () => (await runSlice(bench, subject, loads, seconds))[0]!
  }
  return withSubject(bench.stores, description, { clients: PROJECTS }, (empty) =>
    withSubject(bench.stores, description, { clients: PROJECTS, fill }, async (full) =>
      compare(bench, {
        scenario: `growth to ${(PROJECTS * each).toLocaleString('en-US')} tokens`,
        ...{ subject: description.label, target: targetOf('growth', engine) },
        baseline: await sliceOf(empty),
        own: await sliceOf(full),
      }),
    ),
  )
}
