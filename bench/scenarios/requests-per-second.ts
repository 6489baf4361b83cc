import type { BareRoute } from '../bare-route.ts'
import { type Bench, compare, type Row, runSlice } from '../compare.ts'
import { TRAFFIC, type Traffic } from '../requests.ts'
import type { Subject } from '../subject.ts'
import { type Description, isJeton, type Kind, withSubject } from '../subjects.ts'
import { type TargetName, targetOf } from '../targets.ts'

export const CONNECTIONS = 128
/** More than any subject issues per second. */
const MAX_ISSUED_PER_SECOND = 60_000
const TOKENS_PER_PROJECT = 1_000
const PEER_CLIENTS = 100

/** Enough projects for every token that a comparison may issue. */
export const projectsFor = ({ seconds, rounds }: Bench): number =>
  Math.ceil(((rounds + 1) * 2 * seconds * MAX_ISSUED_PER_SECOND) / TOKENS_PER_PROJECT)

function targetFor(description: Description, kind: Kind) {
  if (!isJeton(description)) return undefined
  const name: TargetName = description.settings ? `${kind}, no fast path` : kind
  return targetOf(name, description.engine)
}

interface Sides {
  readonly bare: BareRoute
  readonly description: Description
}

function measureKind(bench: Bench, { bare, description }: Sides, subject: Subject, kind: Kind): Promise<Row> {
  const seconds = Math.max(bench.seconds, description.minSeconds ?? 0)
  let traffic: Traffic | undefined
  return compare(bench, {
    ...{ scenario: kind, subject: description.label, target: targetFor(description, kind) },
    isBare: true,
    baseline: () => bare.slice(bench, kind, CONNECTIONS),
    async own() {
      const length = traffic ? seconds : (description.warmUpSeconds ?? seconds)
      traffic ??= await TRAFFIC[kind](subject)
      return (await runSlice(bench, subject, [{ traffic, connections: CONNECTIONS }], length))[0]!
    },
  })
}

/** Compares a subject with the bare route for each kind of request, in one process on one store. */
export async function measureRequests(bench: Bench, sides: Sides, kinds: readonly Kind[]): Promise<Row[]> {
  const { description } = sides
  const own = description.kinds.filter((kind) => kinds.includes(kind))
  const clients = isJeton(description) ? projectsFor(bench) : PEER_CLIENTS
  if (own.length === 0) return []
  try {
    return await withSubject(bench.stores, description, { clients }, async (subject) => {
      const rows: Row[] = []
      for (const kind of own) rows.push(await measureKind(bench, sides, subject, kind))
      return rows
    })
  } catch (error) {
    const noResult = (error as Error).message
    return own.map((scenario) => ({ scenario, subject: description.label, noResult }))
  }
}
