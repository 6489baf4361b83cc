import { type Bench, compare, type Row, runSlice } from '../compare.ts'
import { TRAFFIC } from '../requests.ts'
import type { Engine } from '../stores.ts'
import { jetonOn, withSubject } from '../subjects.ts'
import { targetOf } from '../targets.ts'
import { projectsFor } from './requests-per-second.ts'

const CONNECTIONS = 64

/** Compares the p99 of introspection on 64 connections, beside 64 that issue at full speed and without them. */
export function measureMixed(bench: Bench, engine: Engine): Promise<Row> {
  const description = jetonOn(engine)
  return withSubject(bench.stores, description, { clients: projectsFor(bench) }, async (subject) => {
    const introspect = { traffic: await TRAFFIC.introspect(subject), connections: CONNECTIONS }
    const issue = { traffic: await TRAFFIC.issue(subject), connections: CONNECTIONS }
    const slice = async (loads: Parameters<typeof runSlice>[2]) =>
      (await runSlice(bench, subject, loads, bench.seconds))[0]!
    return compare(bench, {
      ...{ scenario: 'mixed', subject: description.label, target: targetOf('mixed', engine) },
      by: 'p99Ms',
      baseline: () => slice([introspect]),
      own: () => slice([introspect, issue]),
    })
  })
}
