import { join } from 'node:path'
import {
  checkPassed,
  gatewayOne,
  gatewayRequests,
  introspectOne,
  introspectRequests,
  issueRequests,
  issueTokens,
  TOKENS_ASKED,
} from '../ask.ts'
import { sendAll, sendOne } from '../load/connection.ts'
import type { LoadGenerator, LoadResult } from '../load/load.ts'
import { writeRequests } from '../load/requests.ts'
import type { Subject } from '../run-subject.ts'
import type { Stores } from '../stores.ts'

export interface Measured {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /**
   * Processor time of the subject for one answer: of all its threads, and of the one with the event loop. What else the
   * machine does changes it far less than the rate.
   */
  readonly cpuMicros: number
  readonly mainMicros: number
}

/** A run in which requests were refused is no result. */
export interface NoResult {
  readonly noResult: string
}

export type Outcome = Measured | NoResult

export const isMeasured = (outcome: Outcome | undefined): outcome is Measured =>
  outcome !== undefined && 'perSecond' in outcome

export interface Bench {
  readonly stores: Stores
  readonly generator: LoadGenerator
  readonly seconds: number
  readonly warmUpSeconds: number
  readonly rounds: number
  readonly clients: number
  readonly quick: boolean
  say(line: string): void
}

/** What is sent, and how long a right answer to it is. */
export interface Traffic {
  readonly file: string
  readonly bytesPerAnswer: number
}

let files = 0
export const write = ({ stores }: Bench, requests: readonly string[]): string => {
  const file = join(stores.folder, `requests-${++files}`)
  writeRequests(file, requests)
  return file
}

export async function issueTraffic(bench: Bench, subject: Subject): Promise<Traffic> {
  const requests = issueRequests(subject)
  const { bytes } = await sendOne(subject.url, requests[0]!)
  return { file: write(bench, requests), bytesPerAnswer: bytes }
}

/** Issues the tokens that are then asked about. */
export async function introspectTraffic(bench: Bench, subject: Subject): Promise<Traffic> {
  const tokens = await issueTokens(subject, TOKENS_ASKED)
  const { bytes } = await introspectOne(subject, tokens[0]!)
  return { file: write(bench, introspectRequests(subject, tokens)), bytesPerAnswer: bytes }
}

/** Issues the tokens that then ask for passage; each of them must get it. */
export async function gatewayTraffic(bench: Bench, subject: Subject): Promise<Traffic> {
  const tokens = await issueTokens(subject, TOKENS_ASKED)
  const { bytes } = await gatewayOne(subject, tokens[0]!)
  const requests = gatewayRequests(subject, tokens)
  await sendAll(subject.url, requests, checkPassed)
  return { file: write(bench, requests), bytesPerAnswer: bytes }
}

/** Answers to the same question differ by a digit at most; a refusal, or `{"active":false}`, by far more. */
const BYTES_TOLERANCE = 0.01

type Cost = Pick<Measured, 'cpuMicros' | 'mainMicros'>

function judge(
  { answers, refused, failed, bytes, seconds, p50Ms, p99Ms }: LoadResult,
  expectedBytes: number,
  cost: Cost,
): Outcome {
  if (refused > 0) return { noResult: `${refused} of ${answers} requests were refused` }
  if (failed > 0) return { noResult: `${failed} requests got no answer` }
  if (answers === 0) return { noResult: 'no answers' }
  const off = bytes / answers / expectedBytes - 1
  if (Math.abs(off) > BYTES_TOLERANCE)
    return { noResult: `answers had ${Math.round(bytes / answers)} bytes on average, not ${expectedBytes}` }
  return { perSecond: answers / seconds, p50Ms, p99Ms, ...cost }
}

/** What cannot even be prepared is no result either, and the others are measured all the same. */
export const orNoResult = (outcome: Promise<Outcome>): Promise<Outcome> =>
  outcome.catch((error: Error) => ({ noResult: error.message }))

/** One load on a subject that has been warmed up with it. */
export async function measure(
  bench: Bench,
  subject: Subject,
  traffic: Traffic,
  connections: number,
): Promise<Outcome> {
  const [outcome] = await measureTogether(bench, subject, [{ traffic, connections }])
  return outcome!
}

export interface Load {
  readonly traffic: Traffic
  readonly connections: number
}

export async function measureTogether(
  bench: Bench,
  subject: Subject,
  loads: readonly Load[],
): Promise<Outcome[]> {
  await loadFor(bench, subject, loads, bench.warmUpSeconds)
  return loadFor(bench, subject, loads, bench.seconds)
}

/** Loads that run side by side share what the subject used: each answer counts the same. */
export async function loadFor(
  { generator }: Bench,
  subject: Subject,
  loads: readonly Load[],
  seconds: number,
): Promise<Outcome[]> {
  const before = await subject.use()
  const results = await Promise.all(
    loads.map(({ traffic, connections }) =>
      generator.run({ url: subject.url, requestsFile: traffic.file, connections, seconds }),
    ),
  )
  const after = await subject.use()
  const answers = results.reduce((all, result) => all + result.answers, 0)
  const cost: Cost = {
    cpuMicros: (after.cpuMicros - before.cpuMicros) / answers,
    mainMicros: (after.mainMicros - before.mainMicros) / answers,
  }
  return results.map((result, i) => judge(result, loads[i]!.traffic.bytesPerAnswer, cost))
}

/** The median of each figure over the rounds; one round without a result spoils the whole. */
export function medianOf(outcomes: readonly Outcome[]): Outcome {
  const failed = outcomes.find((one) => !isMeasured(one))
  if (failed || outcomes.length === 0) return failed ?? { noResult: 'not measured' }
  const measured = outcomes.filter(isMeasured)
  const of = (pick: (one: Measured) => number) => median(measured.map(pick))
  return {
    perSecond: of((one) => one.perSecond),
    p50Ms: of((one) => one.p50Ms),
    p99Ms: of((one) => one.p99Ms),
    cpuMicros: of((one) => one.cpuMicros),
    mainMicros: of((one) => one.mainMicros),
  }
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = (sorted.length - 1) / 2
  return (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2
}
