import { JETON_NAME, SUBJECTS, withSubject } from '../launch.ts'
import { shownOutcome } from '../shown.ts'
import type { Engine } from '../stores.ts'
import {
  type Bench,
  introspectTraffic,
  isMeasured,
  issueTraffic,
  measureTogether,
  medianOf,
  type Outcome,
  type Traffic,
} from './load-subject.ts'

/** Connections that introspect and connections that issue, as fast as each is answered: alone, then with issuing. */
export const MIXES = [
  { introspect: 64, issue: 0 },
  { introspect: 64, issue: 64 },
  { introspect: 128, issue: 0 },
  { introspect: 128, issue: 128 },
] as const

export interface MixRow {
  readonly engine: Engine
  readonly connections: { readonly introspect: number; readonly issue: number }
  readonly introspect: Outcome
  readonly issue: Outcome | undefined
}

/** How many times longer the p99 of introspection is than that of as many connections without any issuing. */
export function p99Ratio(row: MixRow, rows: readonly MixRow[]): number | undefined {
  const isAlone = ({ engine, connections }: MixRow) =>
    engine === row.engine && connections.issue === 0 && connections.introspect === row.connections.introspect
  const alone = rows.find(isAlone)?.introspect
  return isMeasured(alone) && isMeasured(row.introspect) ? row.introspect.p99Ms / alone.p99Ms : undefined
}

type Round = { introspect: Outcome; issue: Outcome | undefined }[]

/** How introspection fares while issuing runs at full speed in the same process. */
export async function measureMixed(bench: Bench, engine: Engine): Promise<MixRow[]> {
  const rounds: Round[] = []
  for (let i = 1; i <= bench.rounds; i++) {
    const round = await measureRound(bench, engine)
    rounds.push(round)
    round.forEach((found, mix) => {
      const { introspect, issue } = MIXES[mix]!
      const label = `${SUBJECTS[JETON_NAME[engine]].label}, ${introspect} introspect and ${issue} issue`
      bench.say(
        `mixed ${i} of ${bench.rounds}: ${label}: ${shownOutcome(found.introspect)}, ${shownOutcome(found.issue)}`,
      )
    })
  }
  return MIXES.map((connections, mix) => ({
    engine,
    connections,
    introspect: medianOf(rounds.map((round) => round[mix]!.introspect)),
    issue: connections.issue === 0 ? undefined : medianOf(rounds.map((round) => round[mix]!.issue!)),
  }))
}

const measureRound = (bench: Bench, engine: Engine): Promise<Round> =>
  withSubject(
    bench.stores,
    JETON_NAME[engine],
    { clients: bench.clients * MIXES.filter(({ issue }) => issue > 0).length },
    async (subject) => {
      const asking = await introspectTraffic(bench, subject)
      const issuing = await issueTraffic(bench, subject)
      const round: Round = []
      for (const { introspect, issue } of MIXES) {
        const loads: { traffic: Traffic; connections: number }[] = [
          { traffic: asking, connections: introspect },
        ]
        if (issue > 0) loads.push({ traffic: issuing, connections: issue })
        const [asked, issued] = await measureTogether(bench, subject, loads)
        round.push({ introspect: asked!, issue: issued })
      }
      return round
    },
  )
