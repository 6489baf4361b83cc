import { type ApiRequest, exchange, type RawAnswer, refused, type Session } from '../call-api.ts'
import { CommandFailure, EXIT } from '../exit.ts'
import { memberPath, type Redeemed } from '../redeem.ts'
import { DEMO, type DemoProject } from './demo-project.ts'

type Counted = 'tokens' | 'introspections' | 'calls' | 'redemptions' | 'refused'

/** Steps in the order of one cycle. */
const CYCLE = [
  ...['issue', 'call', 'introspect', 'call', 'redeem', 'introspect', 'refuse', 'call', 'introspect', 'call'],
  ...['issue', 'call', 'introspect', 'refuse', 'call', 'redeem', 'introspect', 'call', 'refuse', 'call'],
] as const

const EARNED = 400
const REFUSED = [401, 403, 429]

/** Sends the requests of API clients, in turn, and counts their results. */
export class DemoTraffic {
  readonly counts: Record<Counted, number> = {
    tokens: 0,
    introspections: 0,
    calls: 0,
    redemptions: 0,
    refused: 0,
  }
  readonly #session: Session
  readonly #project: DemoProject
  readonly #tokens = new Map<string, string>()
  #redeemed = 0
  #refusals = 0

  constructor(session: Session, project: DemoProject) {
    this.#session = session
    this.#project = project
  }

  async step(number: number): Promise<void> {
    const step = CYCLE[number % CYCLE.length]!
    if (step === 'issue') await this.#issue(number % CYCLE.length === 0 ? 'checkout' : 'pos-gateway')
    if (step === 'call') await this.#authorize('checkout', '/v1/rewards')
    if (step === 'introspect') await this.#introspect('checkout')
    if (step === 'redeem') await this.#redeem()
    if (step === 'refuse') await this.#refuse()
  }

  /** One request that is refused, each time for another reason. */
  async #refuse(): Promise<void> {
    const ways = [
      () => this.#authorize('pos-gateway', '/v1/campaigns'),
      () => this.#issue('warehouse', 'api'),
      () => this.#issue('legacy-pos', 'api'),
      () => this.#issue('kiosk', 'rewards'),
      () => this.#issue('checkout', 'loyalties', { 'x-app-token': 'not-the-secret' }),
    ]
    await ways[this.#refusals++ % ways.length]!()
  }

  async #issue(key: string, scope = 'loyalties', more = {}): Promise<string> {
    const form = { grant_type: 'client_credentials', scope: key === 'checkout' ? 'loyalties rewards' : scope }
    const credential = { ...this.#project.keys[key], ...more }
    const answer = await this.#send('tokens', { method: 'POST', path: '/v1/oauth/token', form, credential })
    const token = answer.response.ok ? String(JSON.parse(answer.text).access_token) : ''
    if (token) this.#tokens.set(key, token)
    return token
  }

  async #tokenOf(key: string): Promise<string> {
    return this.#tokens.get(key) ?? (await this.#issue(key))
  }

  /** As a proxy in front of an API does. */
  async #authorize(key: string, path: string): Promise<void> {
    const credential = { authorization: `Bearer ${await this.#tokenOf(key)}` }
    const headers = { 'x-original-uri': path }
    await this.#send('calls', { method: 'GET', path: '/gateway/authorize', headers, credential })
  }

  async #introspect(key: string): Promise<void> {
    const form = { token: await this.#tokenOf(key) }
    await this.#asWorker('introspections', { path: '/v1/oauth/introspect', form })
  }

  /** Redeems a reward with one card after the other. A card without enough points earns some first. */
  async #redeem(): Promise<void> {
    const { cards, rewards } = this.#project
    const turn = this.#redeemed++
    const card = cards[turn % cards.length]!
    const reward = rewards[(turn + Math.floor(turn / cards.length)) % rewards.length]!
    const path = memberPath(card.code)
    if (card.balance < reward.price) {
      await this.#asWorker('calls', { path: `${path}/balance`, body: { points: EARNED, reason: 'Order' } })
      card.balance += EARNED
    }
    const body = { reward: { id: reward.id } }
    const { text } = await this.#asWorker('redemptions', { path: `${path}/redemption`, body })
    card.balance = (JSON.parse(text) as Redeemed).voucher.loyalty_card.balance
  }

  /** A request that succeeds unless the project changed. */
  async #asWorker(counted: Counted, request: Omit<ApiRequest, 'method'>): Promise<RawAnswer> {
    const credential = this.#project.keys['loyalty-worker']
    const answer = await this.#send(counted, { method: 'POST', ...request, credential })
    if (answer.response.ok) return answer
    if (answer.response.status === 401)
      throw new CommandFailure(
        `The API keys of project "${DEMO}" no longer work: it was removed, or another jeton demo runs.`,
        EXIT.refused,
      )
    throw refused(answer.response, answer.text, undefined)
  }

  async #send(counted: Counted, request: ApiRequest): Promise<RawAnswer> {
    const { connection } = this.#session
    const answer = await exchange({ ...connection, url: connection.apiUrl }, request)
    this.counts[REFUSED.includes(answer.response.status) ? 'refused' : counted]++
    return answer
  }
}
