import { availableParallelism } from 'node:os'
import { JETON_NAME, SUBJECTS, withSubject } from '../launch.ts'
import type { Subject } from '../run-subject.ts'
import { shownOutcome, shownRatio } from '../shown.ts'
import type { Engine } from '../stores.ts'
import {
  type Bench,
  introspectTraffic,
  isMeasured,
  issueTraffic,
  loadFor,
  median,
  medianOf,
  type Outcome,
  type Traffic,
} from './load-subject.ts'
import { CONNECTIONS, slicesOf } from './throughput.ts'

/** More than one for each processor would only show how they get in each other's way. */
export const WORKERS = [1, 2, 4, 8].filter((count) => count <= Math.max(2, availableParallelism()))

const KINDS = ['introspect', 'issue'] as const
type Kind = (typeof KINDS)[number]

export interface WorkersRow {
  readonly engine: Engine
  readonly workers: number
  readonly kind: Kind
  /** Of every slice of every round. */
  readonly slices: readonly Outcome[]
  readonly median: Outcome
  /** Of the rate of one worker just before and just after; the median of all slices. */
  readonly ratio: number | undefined
}

const TRAFFIC = { introspect: introspectTraffic, issue: issueTraffic }

interface Found {
  readonly outcomes: Outcome[]
  readonly ratios: (number | undefined)[]
}

/** How throughput grows with the number of processes on one port. */
export async function measureWorkers(bench: Bench, engine: Engine): Promise<WorkersRow[]> {
  const found = new Map<string, Found>()
  const foundOf = (kind: Kind, workers: number): Found => {
    const one = found.get(`${kind} ${workers}`) ?? { outcomes: [], ratios: [] }
    found.set(`${kind} ${workers}`, one)
    return one
  }
  for (let i = 1; i <= bench.rounds; i++)
    await withProgram(bench, engine, 1, async (one) => {
      for (const workers of WORKERS.slice(1))
        await withProgram(bench, engine, workers, async (many) => {
          for (const kind of KINDS) {
            const { alone, together } = await inTurn(bench, kind, { one, many })
            const ratios = together.map((outcome, slice) =>
              ratioOf(outcome, alone[slice]!, alone[slice + 1]!),
            )
            foundOf(kind, 1).outcomes.push(...alone)
            foundOf(kind, workers).outcomes.push(...together)
            foundOf(kind, workers).ratios.push(...ratios)
            const label = `${SUBJECTS[JETON_NAME[engine]].label}, ${workers} workers`
            const shown = `${shownOutcome(medianOf(together))}, ${shownRatio(medianRatio(ratios))} of one`
            bench.say(`workers ${i} of ${bench.rounds}: ${label}: ${kind} ${shown}`)
          }
        })
    })
  return KINDS.flatMap((kind) =>
    WORKERS.map((workers) => {
      const { outcomes, ratios } = foundOf(kind, workers)
      const ratio = workers === 1 ? 1 : medianRatio(ratios)
      return { engine, workers, kind, slices: outcomes, median: medianOf(outcomes), ratio }
    }),
  )
}

function withProgram(
  { stores, clients }: Bench,
  engine: Engine,
  workers: number,
  work: (subject: Subject) => Promise<void>,
): Promise<void> {
  const options = { clients, settings: { JETON_WORKERS: String(workers) } }
  return withSubject(stores, JETON_NAME[engine], options, work)
}

/** One, many, one, many, …, one. Both run all the time; the one that is not asked has next to nothing to do. */
async function inTurn(
  bench: Bench,
  kind: Kind,
  { one, many }: { one: Subject; many: Subject },
): Promise<{ alone: Outcome[]; together: Outcome[] }> {
  const { slices, seconds } = slicesOf(bench.seconds)
  const traffics = new Map<Subject, Traffic>()
  for (const subject of [one, many]) traffics.set(subject, await TRAFFIC[kind](bench, subject))
  const slice = async (subject: Subject, forSeconds = seconds): Promise<Outcome> => {
    const load = { traffic: traffics.get(subject)!, connections: CONNECTIONS }
    return (await loadFor(bench, subject, [load], forSeconds))[0]!
  }
  for (const subject of [one, many]) await slice(subject, bench.warmUpSeconds)
  const found = { alone: [await slice(one)], together: [] as Outcome[] }
  for (let i = 0; i < slices; i++) {
    found.together.push(await slice(many))
    found.alone.push(await slice(one))
  }
  return found
}

function ratioOf(many: Outcome, before: Outcome, after: Outcome): number | undefined {
  if (!isMeasured(many) || !isMeasured(before) || !isMeasured(after)) return undefined
  return many.perSecond / ((before.perSecond + after.perSecond) / 2)
}

const medianRatio = (ratios: readonly (number | undefined)[]): number | undefined =>
  ratios.length === 0 || ratios.includes(undefined) ? undefined : median(ratios as number[])
