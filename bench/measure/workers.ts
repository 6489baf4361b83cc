import { availableParallelism } from 'node:os'
import { JETON_NAME, SUBJECTS, withSubject } from '../launch.ts'
import { shownOutcome } from '../shown.ts'
import type { Engine } from '../stores.ts'
import { type Bench, isMeasured, median, medianOf, type Outcome, orNoResult } from './load-subject.ts'
import { introspection, issuing } from './throughput.ts'

/** More than one for each processor would only show how they get in each other's way. */
export const WORKERS = [1, 2, 4, 8].filter((count) => count <= Math.max(2, availableParallelism()))

type Kind = 'introspect' | 'issue'
type Round = Record<Kind, Outcome>

export interface WorkersRow {
  readonly engine: Engine
  readonly workers: number
  readonly rounds: readonly Round[]
  readonly median: Round
  /** Of the rate of one worker in the same round; the median of the rounds. */
  readonly ratio: Partial<Record<Kind, number>>
}

/** How throughput grows with the number of processes on one port. */
export async function measureWorkers(bench: Bench, engine: Engine): Promise<WorkersRow[]> {
  const rounds = new Map<number, Round[]>(WORKERS.map((count) => [count, []]))
  for (let i = 1; i <= bench.rounds; i++)
    for (const count of WORKERS) {
      const found = await measureRound(bench, engine, count)
      rounds.get(count)!.push(found)
      const label = `${SUBJECTS[JETON_NAME[engine]].label}, ${count} worker${count === 1 ? '' : 's'}`
      const shown = `introspect ${shownOutcome(found.introspect)}, issue ${shownOutcome(found.issue)}`
      bench.say(`workers ${i} of ${bench.rounds}: ${label}: ${shown}`)
    }
  return WORKERS.map((workers) => rowOf(engine, workers, rounds))
}

function measureRound(bench: Bench, engine: Engine, workers: number): Promise<Round> {
  const options = { clients: bench.clients, program: { JETON_WORKERS: String(workers) } }
  return withSubject(bench.stores, JETON_NAME[engine], options, async (subject) => ({
    introspect: await orNoResult(introspection(bench, subject)),
    issue: await orNoResult(issuing(bench, subject)),
  }))
}

function rowOf(engine: Engine, workers: number, rounds: ReadonlyMap<number, readonly Round[]>): WorkersRow {
  const [own, alone] = [rounds.get(workers)!, rounds.get(1)!]
  const ratioOf = (kind: Kind): number | undefined => {
    const ratios = own.flatMap((round, i) => {
      const [many, one] = [round[kind], alone[i]![kind]]
      return isMeasured(many) && isMeasured(one) ? [many.perSecond / one.perSecond] : []
    })
    return ratios.length === own.length ? median(ratios) : undefined
  }
  return {
    engine,
    workers,
    rounds: own,
    median: {
      introspect: medianOf(own.map((round) => round.introspect)),
      issue: medianOf(own.map((round) => round.issue)),
    },
    ratio: { introspect: ratioOf('introspect'), issue: ratioOf('issue') },
  }
}
