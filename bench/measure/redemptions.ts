import { captureJeton, checkBareSendsTheSame } from '../capture.ts'
import { type Captured, JETON_NAME, SUBJECTS, withSubject } from '../launch.ts'
import { sendOne } from '../load/connection.ts'
import { rawRequest } from '../load/requests.ts'
import { prepareShop, type Shop } from '../prepare-loyalty.ts'
import type { Subject } from '../run-subject.ts'
import { shownOutcome } from '../shown.ts'
import type { Engine } from '../stores.ts'
import {
  type Bench,
  issueTraffic,
  type Load,
  median,
  medianOf,
  type Outcome,
  type Traffic,
  write,
} from './load-subject.ts'
import { inTurn, ratioOf, YARDSTICK } from './throughput.ts'

/** Fewer than cards, so that hardly two requests in flight are for the same one. */
const CONNECTIONS = 16

export interface RedemptionRow {
  readonly engine: Engine
  readonly redeem: Outcome
  /** The bare Fastify route, with the form of a token request. */
  readonly bare: Outcome
  /** Redemptions as a fraction of the bare route just before and just after: median, lowest and highest slice. */
  readonly ratio: number | undefined
  readonly ratios: readonly [number, number] | undefined
}

interface Slices {
  readonly own: readonly Outcome[]
  readonly bare: readonly Outcome[]
}

/** Redemptions of one reward by many cards, in turn with a bare Fastify route. */
export async function measureRedemptions(bench: Bench, engine: Engine): Promise<RedemptionRow[]> {
  const captured = await captureJeton(bench.stores, bench.clients)
  const rounds: Slices[] = []
  for (let i = 1; i <= bench.rounds; i++) {
    const round = await measureRound(bench, engine, captured)
    rounds.push(round)
    const shown = `${shownOutcome(medianOf(round.own))}, bare route ${shownOutcome(medianOf(round.bare))}`
    bench.say(`redemptions ${i} of ${bench.rounds}: ${SUBJECTS[JETON_NAME[engine]].label}: ${shown}`)
  }
  return [rowOf(engine, rounds)]
}

function rowOf(engine: Engine, rounds: readonly Slices[]): RedemptionRow {
  const found = rounds.flatMap(({ own, bare }) => own.map((one, i) => ratioOf(one, bare[i], bare[i + 1])))
  const ratios = found.filter((ratio) => ratio !== undefined)
  const isComplete = ratios.length > 0 && ratios.length === found.length
  return {
    engine,
    redeem: medianOf(rounds.flatMap(({ own }) => own)),
    bare: medianOf(rounds.flatMap(({ bare }) => bare)),
    ratio: isComplete ? median(ratios) : undefined,
    ratios: isComplete ? [Math.min(...ratios), Math.max(...ratios)] : undefined,
  }
}

/** Each round has a fresh store and fresh processes. */
function measureRound(bench: Bench, engine: Engine, captured: Captured): Promise<Slices> {
  const { stores, clients } = bench
  let shop: Shop
  const fill: NonNullable<Parameters<typeof withSubject>[2]['fill']> = async (store, [client]) => {
    shop = await prepareShop(store, client!.projectId)
  }
  return withSubject(stores, YARDSTICK, { clients, captured }, async (bare) => {
    await checkBareSendsTheSame(bare, captured)
    return withSubject(stores, JETON_NAME[engine], { clients: 1, fill }, async (subject) => {
      const load = (traffic: Traffic): Load => ({ traffic, connections: CONNECTIONS })
      const loads = {
        own: load(await redeemTraffic(bench, subject, shop)),
        bare: load(await issueTraffic(bench, bare)),
      }
      return inTurn(bench, { subject, bare }, loads)
    })
  })
}

async function redeemTraffic(bench: Bench, subject: Subject, shop: Shop): Promise<Traffic> {
  const requests = redeemRequests(subject, shop)
  const { status, body, bytes } = await sendOne(subject.url, requests[0]!)
  if (status !== 200 || JSON.parse(body).result !== 'SUCCESS')
    throw new Error(`Nothing was redeemed: ${status} ${body.slice(0, 300)}`)
  return { file: write(bench, requests), bytesPerAnswer: bytes }
}

export const redeemRequests = (
  { url, credentials }: Subject,
  { campaignId, rewardId, cards }: Shop,
): string[] =>
  cards.map(({ code }) =>
    rawRequest(url, {
      path: `/v1/loyalties/${campaignId}/members/${code}/redemption`,
      headers: { ...credentials[0], 'content-type': 'application/json' },
      body: JSON.stringify({ reward: { id: rewardId } }),
    }),
  )
