import { setTimeout as wait } from 'node:timers/promises'
import type { Database } from '../../server/src/platform/database/index.ts'
import { readTotals } from '../../server/test/concurrent-redemptions.ts'
import type { Receiver } from '../../server/test/receiver.ts'
import { clientOf } from '../../server/test/service.ts'
import type { Clients, Fixtures, Issued } from './clients.ts'

/** Longer than the lease of a delivery, so that another worker has sent what a killed worker had claimed. */
const DELIVERED_WITHIN_MS = 180_000
const CONCURRENCY = 32

/** Acknowledged items that are missing. Each list must be empty. */
export interface Losses {
  readonly tokens: readonly string[]
  readonly redemptions: readonly string[]
  readonly events: readonly string[]
  /** Wrong responses while the load ran. */
  readonly wrong: readonly string[]
}

export interface Found {
  readonly losses: Losses
  readonly tokensAcknowledged: number
  readonly redemptionsAcknowledged: number
  /** Events that arrived more than once with the same webhook-id, because delivery is at least once. */
  readonly sentAgain: number
}

interface Sources {
  readonly url: string
  readonly db: Database
  readonly clients: Clients
  readonly fixtures: Fixtures
  readonly receiver: Receiver
}

export async function findLosses({ url, db, clients, fixtures, receiver }: Sources): Promise<Found> {
  const redemptions = await lostRedemptions(db, clients, fixtures)
  const events = await lostEvents(clients, receiver)
  const ids = new Set(receiver.received.map(({ headers }) => headers['webhook-id']))
  return {
    losses: { tokens: await deadTokens(url, clients.tokens), redemptions, events, wrong: clients.wrong },
    tokensAcknowledged: clients.tokens.length,
    redemptionsAcknowledged: clients.redemptions.size,
    sentAgain: receiver.received.length - ids.size,
  }
}

async function deadTokens(url: string, tokens: readonly Issued[]): Promise<string[]> {
  const { introspect } = clientOf(url)
  const dead: string[] = []
  let next = 0
  async function ask(): Promise<void> {
    for (let one = tokens[next++]; one; one = tokens[next++]) {
      const { status, body } = await introspect(one.pair, one.token)
      if (status !== 200 || body.active !== true) dead.push(`${status} ${one.token.slice(0, 12)}…`)
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, ask))
  return dead
}

/** Checks that each acknowledged redemption exists once: points, stock, record and event. */
async function lostRedemptions(
  db: Database,
  { redemptions }: Clients,
  { rewardId }: Fixtures,
): Promise<string[]> {
  const totals = await readTotals(db, rewardId)
  const expected = new Set(redemptions.values()).size
  const faults: string[] = []
  if (expected !== redemptions.size) faults.push('two keys returned the same redemption')
  for (const name of ['redemptions', 'events', 'redeemed'] as const)
    if (totals[name] !== expected) faults.push(`${expected} were acknowledged, ${name}: ${totals[name]}`)
  for (const card of totals.wrongCards) faults.push(`a card does not add up: ${JSON.stringify(card)}`)
  return faults
}

async function lostEvents({ redemptions }: Clients, receiver: Receiver): Promise<string[]> {
  const missing = () => {
    const arrived = new Set(receiver.received.map(({ payload }) => payload.data?.source?.id))
    return [...redemptions.values()].filter((id) => !arrived.has(id))
  }
  const late = performance.now() + DELIVERED_WITHIN_MS
  while (missing().length > 0 && performance.now() < late) await wait(200)
  return missing()
}
