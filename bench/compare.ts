import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type LoadResult, runLoad } from './load/generator.ts'
import type { Traffic } from './requests.ts'
import type { Stores } from './stores.ts'
import type { Subject } from './subject.ts'
import type { Target } from './targets.ts'

export interface Bench {
  readonly stores: Stores
  /** Length of a slice, in whole seconds. */
  readonly seconds: number
  readonly rounds: number
  readonly quick: boolean
  log(line: string): void
}

/** Figures of one slice, or their medians. */
export interface Slice {
  readonly perSecond: number
  readonly p50Ms?: number
  readonly p99Ms?: number
  /** Processor time of the subject per response, without PostgreSQL and without the load generator. */
  readonly cpuMicros?: number
}

export interface Spread {
  readonly median: number
  readonly lowest: number
  readonly highest: number
}

/** One line of the table. */
export interface Row {
  readonly scenario: string
  readonly subject: string
  readonly own?: Slice
  readonly baseline?: Slice
  /** Ratio to the baseline just before and just after each slice. */
  readonly ratio?: Spread
  /** Difference of the fastest and the slowest slice of the bare route, as a part of the median. */
  readonly bareSpread?: number
  readonly memoryMb?: number
  readonly target?: Target | undefined
  /** The reason, if there is no figure. */
  readonly noResult?: string
}

/** At a wider spread of the bare route a comparison is repeated once, and nothing is published. */
export const MAX_BARE_SPREAD = 0.3

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = (sorted.length - 1) / 2
  return (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2
}

const spreadOf = (values: readonly number[]): Spread => ({
  median: median(values),
  lowest: Math.min(...values),
  highest: Math.max(...values),
})

const medianSlice = (slices: readonly Slice[]): Slice =>
  Object.fromEntries(
    Object.keys(slices[0]!).map((key) => [key, median(slices.map((slice) => slice[key as keyof Slice]!))]),
  ) as unknown as Slice

/** Responses to one kind of request differ by a digit at most. `{"active":false}` is much shorter. */
const BYTES_TOLERANCE = 0.01

function checkResult({ answers, refused, failed, bytes }: LoadResult, expectedBytes: number): void {
  if (refused > 0) throw new Error(`${refused} of ${answers} requests were refused`)
  if (failed > 0) throw new Error(`${failed} requests got no response`)
  if (answers === 0) throw new Error('no response within the slice')
  const average = Math.round(bytes / answers)
  if (Math.abs(average / expectedBytes - 1) > BYTES_TOLERANCE)
    throw new Error(`responses had ${average} bytes on average, not ${expectedBytes}`)
}

export interface Load {
  readonly traffic: Traffic
  readonly connections: number
}

let files = 0

/** Runs loads side by side for one slice. They share the processor time: each response counts the same. */
export async function runSlice(
  { stores }: Bench,
  { program }: Subject,
  loads: readonly Load[],
  seconds: number,
): Promise<Slice[]> {
  const before = program.use()
  const results = await Promise.all(
    loads.map(({ traffic: { url, requests }, connections }) => {
      const requestsFile = join(stores.folder, `requests-${++files}`)
      writeFileSync(requestsFile, requests.join('\0'), 'latin1')
      return runLoad({ url, requestsFile, connections, seconds })
    }),
  )
  const cpuMicros = program.use().cpuMicros - before.cpuMicros
  const total = results.reduce((sum, { answers }) => sum + answers, 0)
  return results.map((result, i) => {
    checkResult(result, loads[i]!.traffic.bytesPerAnswer)
    const { answers, seconds: measured, p50Ms, p99Ms } = result
    return { perSecond: answers / measured, p50Ms, p99Ms, cpuMicros: cpuMicros / total }
  })
}

export interface Comparison {
  readonly scenario: string
  readonly subject: string
  readonly target?: Target | undefined
  /** The baseline is the bare route, whose spread decides about publishing. */
  readonly isBare?: boolean
  readonly by?: 'perSecond' | 'p99Ms'
  /** Every slice starts its own process, so that there is nothing to warm up. */
  readonly isCold?: boolean
  baseline(): Promise<Slice>
  own(): Promise<Slice>
}

/** Measures baseline, subject, baseline, subject, …, baseline. Other work on the machine then affects both sides. */
async function measureInTurn(
  bench: Bench,
  { scenario, subject, target, isBare, by = 'perSecond', baseline, own }: Comparison,
): Promise<Row> {
  const baselines = [await baseline()]
  const owns: Slice[] = []
  for (let round = 0; round < bench.rounds; round++) {
    owns.push(await own())
    baselines.push(await baseline())
  }
  const ratios = owns.map((slice, i) => slice[by]! / ((baselines[i]![by]! + baselines[i + 1]![by]!) / 2))
  const row = { scenario, subject, own: medianSlice(owns), baseline: medianSlice(baselines), target }
  const { median: middle, lowest, highest } = spreadOf(baselines.map(({ perSecond }) => perSecond))
  return { ...row, ratio: spreadOf(ratios), ...(isBare && { bareSpread: (highest - lowest) / middle }) }
}

/** Warms up both sides and compares them. An error becomes a row without a result. */
export async function compare(bench: Bench, comparison: Comparison): Promise<Row> {
  const { scenario, subject, target } = comparison
  try {
    if (!comparison.isCold) {
      await comparison.baseline()
      await comparison.own()
    }
    const row = await measureInTurn(bench, comparison)
    const isRepeated = !bench.quick && (row.bareSpread ?? 0) >= MAX_BARE_SPREAD
    if (isRepeated) bench.log(`${scenario}: ${subject}: the bare route varied too much, measured again`)
    return isRepeated ? await measureInTurn(bench, comparison) : row
  } catch (error) {
    return { scenario, subject, target, noResult: (error as Error).message }
  }
}
