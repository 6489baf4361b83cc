import { captureJeton, checkBareSendsTheSame } from '../capture.ts'
import { type Captured, SUBJECTS, type SubjectName, withSubject } from '../launch.ts'
import type { Subject } from '../run-subject.ts'
import { shownOutcome } from '../shown.ts'
import {
  type Bench,
  gatewayTraffic,
  introspectTraffic,
  isMeasured,
  issueTraffic,
  measure,
  median,
  medianOf,
  type Outcome,
  orNoResult,
} from './load-subject.ts'

export type Kind = 'introspect' | 'issue' | 'gateway'
export const CONNECTIONS = 128

/** The bare route is the yardstick: whatever is not the framework is ours. */
export const YARDSTICK: SubjectName = 'bare-fastify'

/** The peers have no gateway. */
export const isAtGateway = (name: SubjectName): boolean => name.startsWith('jeton') || name.startsWith('bare')

type Round = Partial<Record<Kind, Outcome>>

export interface ThroughputRow {
  readonly subject: SubjectName
  readonly rounds: readonly Round[]
  readonly median: Round
  /** Of the bare route's rate in the same round; the median of the rounds. */
  readonly ratio: Partial<Record<Kind, number>>
}

export async function measureThroughput(
  bench: Bench,
  subjects: readonly SubjectName[],
  kinds: readonly Kind[],
): Promise<ThroughputRow[]> {
  bench.say('capturing an answer of Jeton for the bare servers')
  const captured = await captureJeton(bench.stores, bench.clients)
  const rounds: Map<SubjectName, Round>[] = []
  for (let i = 1; i <= bench.rounds; i++) {
    const round = new Map<SubjectName, Round>()
    for (const name of subjects) {
      const found = await measureSubject(bench, name, { captured, kinds }).catch((error: Error) =>
        Object.fromEntries(kinds.map((kind): [Kind, Outcome] => [kind, { noResult: error.message }])),
      )
      round.set(name, found)
      const shown = kinds.map((kind) => `${kind} ${shownOutcome(found[kind])}`).join(', ')
      bench.say(`round ${i} of ${bench.rounds}: ${SUBJECTS[name].label}: ${shown}`)
    }
    rounds.push(round)
  }
  return subjects.map((name) => rowOf(name, kinds, rounds))
}

function measureSubject(
  bench: Bench,
  name: SubjectName,
  { captured, kinds }: { captured: Captured; kinds: readonly Kind[] },
): Promise<Round> {
  const { stores, clients } = bench
  return withSubject(stores, name, { clients, captured }, async (subject) => {
    if (name.startsWith('bare')) await checkBareSendsTheSame(subject, captured)
    const round: Round = {}
    // Introspection first: it leaves nothing behind that the other would have to work around.
    if (kinds.includes('introspect')) round.introspect = await orNoResult(introspection(bench, subject))
    if (kinds.includes('gateway')) round.gateway = await orNoResult(atGateway(bench, subject))
    if (kinds.includes('issue')) round.issue = await orNoResult(issuing(bench, subject))
    return round
  })
}

export const introspection = async (bench: Bench, subject: Subject): Promise<Outcome> =>
  measure(bench, subject, await introspectTraffic(bench, subject), CONNECTIONS)

const atGateway = async (bench: Bench, subject: Subject): Promise<Outcome> =>
  measure(bench, subject, await gatewayTraffic(bench, subject), CONNECTIONS)

export const issuing = async (bench: Bench, subject: Subject): Promise<Outcome> =>
  measure(bench, subject, await issueTraffic(bench, subject), CONNECTIONS)

function rowOf(
  subject: SubjectName,
  kinds: readonly Kind[],
  rounds: readonly Map<SubjectName, Round>[],
): ThroughputRow {
  const own = rounds.map((round) => round.get(subject)!)
  const ratios = kinds.map((kind) => [kind, ratioOf(subject, kind, rounds)] as const)
  return {
    subject,
    rounds: own,
    median: Object.fromEntries(kinds.map((kind) => [kind, medianOf(own.map((round) => round[kind]!))])),
    ratio: Object.fromEntries(ratios.filter(([, ratio]) => ratio !== undefined)),
  }
}

function ratioOf(
  subject: SubjectName,
  kind: Kind,
  rounds: readonly Map<SubjectName, Round>[],
): number | undefined {
  const ratios = rounds.map((round) => {
    const [own, bare] = [round.get(subject)?.[kind], round.get(YARDSTICK)?.[kind]]
    return isMeasured(own) && isMeasured(bare) ? own.perSecond / bare.perSecond : undefined
  })
  return ratios.includes(undefined) ? undefined : median(ratios as number[])
}
