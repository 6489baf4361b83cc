import { replay } from '../bare-redemptions/replay.ts'
import { JETON_NAME, SUBJECTS, withSubject } from '../launch.ts'
import { sendOne } from '../load/connection.ts'
import { rawRequest } from '../load/requests.ts'
import { prepareProjects } from '../prepare-jeton.ts'
import { prepareShop, type Shop } from '../prepare-loyalty.ts'
import type { Subject } from '../run-subject.ts'
import { shownCount, shownOutcome } from '../shown.ts'
import type { Engine } from '../stores.ts'
import {
  type Bench,
  isMeasured,
  measure,
  median,
  medianOf,
  type Outcome,
  orNoResult,
  write,
} from './load-subject.ts'
import { CONNECTIONS } from './throughput.ts'

interface Round {
  readonly redeem: Outcome
  /** Transactions per second with the same statements, straight to the engine. */
  readonly barePerSecond: number
}

export interface RedemptionRow {
  readonly engine: Engine
  readonly rounds: readonly Round[]
  readonly redeem: Outcome
  readonly barePerSecond: number
  /** Of the bare engine's rate in the same round; the median of the rounds. */
  readonly ratio: number | undefined
}

/** Redemptions of one reward by many cards, beside the engine alone. */
export async function measureRedemptions(bench: Bench, engine: Engine): Promise<RedemptionRow[]> {
  const rounds: Round[] = []
  for (let i = 1; i <= bench.rounds; i++) {
    const barePerSecond = await bareEngine(bench, engine)
    const redeem = await overHttp(bench, engine)
    rounds.push({ redeem, barePerSecond })
    const shown = `${shownOutcome(redeem)}, the engine alone ${shownCount(barePerSecond)}/s`
    bench.say(`redemptions ${i} of ${bench.rounds}: ${SUBJECTS[JETON_NAME[engine]].label}: ${shown}`)
  }
  return [
    {
      engine,
      rounds,
      redeem: medianOf(rounds.map(({ redeem }) => redeem)),
      barePerSecond: median(rounds.map((round) => round.barePerSecond)),
      ratio: ratioOf(rounds),
    },
  ]
}

function ratioOf(rounds: readonly Round[]): number | undefined {
  const ratios = rounds.map(({ redeem, barePerSecond }) =>
    isMeasured(redeem) ? redeem.perSecond / barePerSecond : undefined,
  )
  return ratios.includes(undefined) ? undefined : median(ratios as number[])
}

async function bareEngine(bench: Bench, engine: Engine): Promise<number> {
  const store = await bench.stores.fresh(engine)
  try {
    const [client] = await prepareProjects(store, 1)
    return await replay(store, await prepareShop(store, client!.projectId), bench)
  } finally {
    await store.drop()
  }
}

function overHttp(bench: Bench, engine: Engine): Promise<Outcome> {
  let shop: Shop
  const fill: NonNullable<Parameters<typeof withSubject>[2]['fill']> = async (store, [client]) => {
    shop = await prepareShop(store, client!.projectId)
  }
  return withSubject(bench.stores, JETON_NAME[engine], { clients: 1, fill }, (subject) =>
    orNoResult(redeeming(bench, subject, shop)),
  )
}

async function redeeming(bench: Bench, subject: Subject, shop: Shop): Promise<Outcome> {
  const requests = redeemRequests(subject, shop)
  const { status, body, bytes } = await sendOne(subject.url, requests[0]!)
  if (status !== 200 || JSON.parse(body).result !== 'SUCCESS')
    throw new Error(`Nothing was redeemed: ${status} ${body.slice(0, 300)}`)
  return measure(bench, subject, { file: write(bench, requests), bytesPerAnswer: bytes }, CONNECTIONS)
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
