import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { type ClientResponse, KeepAliveClient } from '../../server/test/keep-alive-client.ts'
import type { Shop } from '../../server/test/loyalty.ts'
import type { Pair } from '../../server/test/service.ts'

const [ISSUERS, INTROSPECTORS, REDEEMERS] = [4, 6, 4]
/** Less than the limit of all projects. */
const MAX_TOKENS = 15_000
/** Only the newest tokens are introspected, each of them often, as by an API whose clients reuse their tokens. */
const MAX_INTROSPECTED = 50

export interface Issued {
  readonly token: string
  readonly pair: Pair
}

export type Kind = 'issue' | 'introspect' | 'redeem'

/** Results of the clients in one phase of the trial. */
export interface Phase {
  readonly name: string
  /** Longest time between two successful responses of a kind. */
  readonly longestGapMs: Record<Kind, number>
  answered: number
  /** Failed requests by status. `cut` is a connection that was lost before the response. */
  readonly failed: Record<string, number>
  slowestMs: number
}

export interface Fixtures {
  readonly pairs: readonly Pair[]
  readonly shop: Shop
  readonly rewardId: string
  readonly cards: readonly string[]
}

const formOf = ({ appId, appToken }: Pair) => ({
  'content-type': 'application/x-www-form-urlencoded',
  'x-app-id': appId,
  'x-app-token': appToken,
})

/** Clients that repeat requests and remember everything that was acknowledged. */
export class Clients {
  readonly tokens: Issued[] = []
  /** Redemption by Idempotency-Key. */
  readonly redemptions = new Map<string, string>()
  /** Wrong responses, which are worse than none. */
  readonly wrong: string[] = []
  readonly phases: Phase[] = []
  readonly #url: string
  readonly #fixtures: Fixtures
  readonly #pauseMs: number
  readonly #lastSuccessAt: Partial<Record<Kind, number>> = {}
  #going = true
  #done: Promise<unknown> = Promise.resolve()

  /** `pauseMs` limits the load: the trial measures losses, not speed, and processes need CPU time to start. */
  constructor(url: string, fixtures: Fixtures, pauseMs: number) {
    this.#url = url
    this.#fixtures = fixtures
    this.#pauseMs = pauseMs
  }

  enter(name: string): void {
    const longestGapMs = { issue: 0, introspect: 0, redeem: 0 }
    this.phases.push({ name, longestGapMs, answered: 0, failed: {}, slowestMs: 0 })
  }

  start(): void {
    const crowd = [
      ...Array.from({ length: ISSUERS }, (_, n) => this.#issue(n)),
      ...Array.from({ length: INTROSPECTORS }, (_, n) => this.#introspect(n)),
      ...Array.from({ length: REDEEMERS }, (_, n) => this.#redeem(n)),
    ]
    this.#done = Promise.all(crowd)
  }

  async stop(): Promise<void> {
    this.#going = false
    await this.#done
  }

  /** Returns a successful response. Otherwise counts the failure and returns undefined. */
  async #send(
    kind: Kind,
    client: KeepAliveClient,
    request: Parameters<KeepAliveClient['request']>[0],
  ): Promise<ClientResponse | undefined> {
    const began = performance.now()
    const answer = await client.request(request).catch(() => undefined)
    const phase = this.phases.at(-1)!
    const now = performance.now()
    phase.slowestMs = Math.max(phase.slowestMs, now - began)
    if (answer?.status === 200) this.#noteGap(kind, phase, now)
    await wait(this.#pauseMs)
    if (answer?.status === 200) {
      phase.answered++
      return answer
    }
    const reason = answer ? String(answer.status) : 'cut'
    phase.failed[reason] = (phase.failed[reason] ?? 0) + 1
    return undefined
  }

  #noteGap(kind: Kind, { longestGapMs }: Phase, now: number): void {
    longestGapMs[kind] = Math.max(longestGapMs[kind], now - (this.#lastSuccessAt[kind] ?? now))
    this.#lastSuccessAt[kind] = now
  }

  async #issue(n: number): Promise<void> {
    const client = new KeepAliveClient(this.#url)
    for (let i = n; this.#going && this.tokens.length < MAX_TOKENS; i += ISSUERS) {
      const pair = this.#fixtures.pairs[i % this.#fixtures.pairs.length]!
      const body = 'grant_type=client_credentials&scope=rewards'
      const request = { method: 'POST', path: '/v1/oauth/token', headers: formOf(pair), body }
      const answer = await this.#send('issue', client, request)
      if (answer) this.tokens.push({ token: JSON.parse(answer.text).access_token, pair })
    }
    client.close()
  }

  async #introspect(n: number): Promise<void> {
    const client = new KeepAliveClient(this.#url)
    for (let i = n; this.#going; i += INTROSPECTORS) {
      const issued = this.tokens.at(-1 - (i % Math.min(MAX_INTROSPECTED, this.tokens.length || 1)))
      if (!issued) {
        await wait(this.#pauseMs)
        continue
      }
      const { token, pair } = issued
      const request = {
        method: 'POST',
        path: '/v1/oauth/introspect',
        headers: formOf(pair),
        body: `token=${token}`,
      }
      const answer = await this.#send('introspect', client, request)
      if (answer && JSON.parse(answer.text).active !== true)
        this.wrong.push(`an active token was reported as inactive: ${answer.text}`)
    }
    client.close()
  }

  /** Repeats each redemption with the same key until it is answered. */
  async #redeem(n: number): Promise<void> {
    const client = new KeepAliveClient(this.#url)
    const { shop, rewardId, cards } = this.#fixtures
    const { appId, appToken } = shop.pair
    const path = `/v1/loyalties/${shop.campaign.id}/members/${cards[n % cards.length]}/redemption`
    const body = JSON.stringify({ reward: { id: rewardId } })
    while (this.#going) {
      const key = randomUUID()
      const headers = { 'content-type': 'application/json', 'x-app-id': appId, 'x-app-token': appToken }
      const request = { method: 'POST', path, headers: { ...headers, 'idempotency-key': key }, body }
      let answer = await this.#send('redeem', client, request)
      while (!answer) answer = await this.#send('redeem', client, request)
      this.redemptions.set(key, JSON.parse(answer.text).id)
    }
    client.close()
  }
}
