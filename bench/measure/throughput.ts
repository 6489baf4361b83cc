import { captureJeton, checkBareSendsTheSame } from '../capture.ts'
import { SUBJECTS, type SubjectName, withSubject } from '../launch.ts'
import type { Subject } from '../run-subject.ts'
import { shownOutcome, shownRatio } from '../shown.ts'
import {
  type Bench,
  gatewayTraffic,
  introspectTraffic,
  isMeasured,
  issueTraffic,
  type Load,
  loadFor,
  median,
  medianOf,
  type Outcome,
  type Traffic,
} from './load-subject.ts'

export type Kind = 'introspect' | 'issue' | 'gateway'
export const CONNECTIONS = 128

/** The bare route is the yardstick: whatever is not the framework is ours. */
export const YARDSTICK: SubjectName = 'bare-fastify'

/** The peers have no gateway. */
export const isAtGateway = (name: SubjectName): boolean => name.startsWith('jeton') || name.startsWith('bare')

/** A measurement is cut into so many, with the bare route before and after each: what disturbs one disturbs the other. */
const SLICES = 5
export const slicesOf = (seconds: number) => {
  const slices = Math.min(SLICES, seconds)
  return { slices, seconds: Math.ceil(seconds / slices) }
}

type PerKind<T> = Partial<Record<Kind, T>>

export interface ThroughputRow {
  readonly subject: SubjectName
  /** Of every slice of every round. */
  readonly slices: PerKind<readonly Outcome[]>
  readonly median: PerKind<Outcome>
  /** Of the bare route's rate just before and just after; the median of all slices. */
  readonly ratio: PerKind<number>
}

/** What was found of one subject in all rounds. */
interface Found {
  readonly outcomes: Outcome[]
  readonly ratios: (number | undefined)[]
}

const TRAFFIC: Record<Kind, (bench: Bench, subject: Subject) => Promise<Traffic>> = {
  introspect: introspectTraffic,
  issue: issueTraffic,
  gateway: gatewayTraffic,
}

export async function measureThroughput(
  bench: Bench,
  subjects: readonly SubjectName[],
  kinds: readonly Kind[],
): Promise<ThroughputRow[]> {
  bench.say('capturing an answer of Jeton for the bare servers')
  const captured = await captureJeton(bench.stores, bench.clients)
  const { stores, clients } = bench
  const found = new Map<string, Found>()
  const foundOf = (name: SubjectName, kind: Kind): Found => {
    const one = found.get(`${name} ${kind}`) ?? { outcomes: [], ratios: [] }
    found.set(`${name} ${kind}`, one)
    return one
  }

  async function compare(name: SubjectName, kind: Kind, sides: Sides): Promise<string> {
    const { own, bare } = await kindInTurn(bench, kind, sides).catch((error: Error) => ({
      own: [{ noResult: error.message }],
      bare: [],
    }))
    const ratios = own.map((outcome, i) => ratioOf(outcome, bare[i], bare[i + 1]))
    foundOf(name, kind).outcomes.push(...own)
    foundOf(name, kind).ratios.push(...ratios)
    foundOf(YARDSTICK, kind).outcomes.push(...bare)
    const shown = shownRatio(ratios.includes(undefined) ? undefined : median(ratios as number[]))
    return `${kind} ${shownOutcome(medianOf(own))}, ${shown} of the bare route`
  }

  for (let i = 1; i <= bench.rounds; i++)
    await withSubject(stores, YARDSTICK, { clients, captured }, async (bare) => {
      await checkBareSendsTheSame(bare, captured)
      for (const name of subjects.filter((one) => one !== YARDSTICK)) {
        const shown = await withSubject(stores, name, { clients, captured }, async (subject) => {
          if (name.startsWith('bare')) await checkBareSendsTheSame(subject, captured)
          const all: string[] = []
          for (const kind of kinds) all.push(await compare(name, kind, { subject, bare }))
          return all.join('; ')
        }).catch((error: Error) => {
          for (const kind of kinds) foundOf(name, kind).outcomes.push({ noResult: error.message })
          return `no result: ${error.message}`
        })
        bench.say(`round ${i} of ${bench.rounds}: ${SUBJECTS[name].label}: ${shown}`)
      }
    })
  return subjects.map((name) => rowOf(name, kinds, foundOf))
}

interface Sides {
  readonly subject: Subject
  readonly bare: Subject
}

async function kindInTurn(bench: Bench, kind: Kind, sides: Sides): Promise<InTurn> {
  const load = async (one: Subject) => ({
    traffic: await TRAFFIC[kind](bench, one),
    connections: CONNECTIONS,
  })
  return inTurn(bench, sides, { bare: await load(sides.bare), own: await load(sides.subject) })
}

interface InTurn {
  readonly own: Outcome[]
  readonly bare: Outcome[]
}

/** Bare, subject, bare, subject, …, bare. Both run all the time; the one that is not asked has next to nothing to do. */
export async function inTurn(
  bench: Bench,
  { subject, bare }: Sides,
  loads: { readonly own: Load; readonly bare: Load },
): Promise<InTurn> {
  const { slices, seconds } = slicesOf(bench.seconds)
  const slice = async (of: 'own' | 'bare', forSeconds = seconds): Promise<Outcome> =>
    (await loadFor(bench, of === 'own' ? subject : bare, [loads[of]], forSeconds))[0]!
  for (const one of ['bare', 'own'] as const) await slice(one, bench.warmUpSeconds)
  const found = { own: [] as Outcome[], bare: [await slice('bare')] }
  for (let i = 0; i < slices; i++) {
    found.own.push(await slice('own'))
    found.bare.push(await slice('bare'))
  }
  return found
}

export function ratioOf(
  own: Outcome,
  before: Outcome | undefined,
  after: Outcome | undefined,
): number | undefined {
  if (!isMeasured(own) || !isMeasured(before) || !isMeasured(after)) return undefined
  return own.perSecond / ((before.perSecond + after.perSecond) / 2)
}

function rowOf(
  subject: SubjectName,
  kinds: readonly Kind[],
  foundOf: (name: SubjectName, kind: Kind) => Found,
): ThroughputRow {
  const row = { subject, slices: {}, median: {}, ratio: {} } as {
    subject: SubjectName
    slices: PerKind<Outcome[]>
    median: PerKind<Outcome>
    ratio: PerKind<number>
  }
  for (const kind of kinds) {
    const { outcomes, ratios } = foundOf(subject, kind)
    row.slices[kind] = outcomes
    row.median[kind] = medianOf(outcomes)
    if (subject === YARDSTICK) row.ratio[kind] = 1
    else if (ratios.length > 0 && !ratios.includes(undefined)) row.ratio[kind] = median(ratios as number[])
  }
  return row
}
