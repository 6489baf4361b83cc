import { setTimeout as wait } from 'node:timers/promises'
import { redemptionData } from '../reported-redemption.ts'
import { OPERATOR } from '../service.ts'
import type { DemoKey, DemoProject } from './demo-project.ts'
import { asForm, asJson, asPair, HttpClient, type HttpRequest, type HttpResult } from './http-client.ts'
import { Ledger, type Redemption, type Report } from './ledger.ts'
import type { Random } from './random.ts'

const AS_OPERATOR = { 'x-management-id': OPERATOR.id, 'x-management-token': OPERATOR.token }
/** The promised worst case between blocking a key and the last process that notices, plus 15 s for a busy machine. */
const DEAD_EVERYWHERE_AFTER_MS = 30_000 + 15_000
const PAUSE_AFTER_FAILURE_MS = 30
/** Limits the load: a fault needs requests in flight, not speed, and processes need CPU time to start again. */
const PAUSE_MS = 5
const AT_ONCE = 16
/** Some clients disconnect before they get the response. They do not know the outcome, and retry. */
const ABORT_PROBABILITY = 0.03

interface LoadOptions {
  /** Addresses of the service at this moment. There may be none. */
  readonly urls: () => readonly string[]
  readonly demo: DemoProject
  readonly random: Random
}

/** Clients that constantly issue, introspect and revoke tokens, redeem, report, block and unblock. */
export class Load {
  readonly ledger = new Ledger()
  readonly #options: LoadOptions
  readonly #client = new HttpClient()
  #running: Promise<unknown>[] = []
  #stopping = false
  #count = 0
  /** When a write was last acknowledged, by the monotonic clock. */
  lastSuccessAt = 0

  constructor(options: LoadOptions) {
    this.#options = options
  }

  start(workers = 8): void {
    this.#stopping = false
    this.#running = Array.from({ length: workers }, (_, i) => this.#work(i))
  }

  /** Waits for the requests in flight. */
  async stop(): Promise<void> {
    this.#stopping = true
    await Promise.all(this.#running)
  }

  close(): void {
    this.#client.close()
  }

  async send(request: HttpRequest, url = this.#anyUrl()): Promise<HttpResult> {
    if (url === undefined) {
      await wait(PAUSE_AFTER_FAILURE_MS)
      return { status: 0, body: undefined, text: '' }
    }
    const answer = await this.#client.send(url, request)
    this.ledger.statuses[answer.status] = (this.ledger.statuses[answer.status] ?? 0) + 1
    if (answer.status === -1) this.ledger.violations.push(`no response: ${request.path}`)
    return answer
  }

  #anyUrl(): string | undefined {
    return this.#options.random.pick(this.#options.urls())
  }

  async #work(worker: number): Promise<void> {
    const { random, demo } = this.#options
    while (!this.#stopping) {
      const act = random.weighted([
        [30, () => this.issue(random.pick([demo.busy, demo.small, ...demo.blockedKeys]))],
        [30, () => this.#redeem(random.chance(0.2) ? demo.smallStockReward : demo.largeStockReward)],
        [12, () => this.#report()],
        [16, () => this.#introspectAny()],
        [6, () => this.#revoke()],
        [2, () => this.#killKey(demo.blockedKeys[worker % demo.blockedKeys.length]!)],
      ])
      const answer = await act()
      if (answer.status === 200 || answer.status === 204) this.lastSuccessAt = performance.now()
      const hasFailed = answer.status <= 0 || answer.status === 503
      await wait(hasFailed ? PAUSE_AFTER_FAILURE_MS : PAUSE_MS)
    }
  }

  #abortAfter(): number | undefined {
    const { random } = this.#options
    return random.chance(ABORT_PROBABILITY) ? random.between(0, 15) : undefined
  }

  /** Records a violation unless the result is expected, a 503 or a reset connection. */
  #expect(answer: HttpResult, what: string, expected: readonly (number | string)[]): void {
    const name = answer.status === 200 || answer.status === 204 ? answer.status : answer.body?.key
    if (answer.status <= 0 || answer.status === 503 || expected.includes(name)) return
    this.ledger.violations.push(`${what} answered ${answer.status} ${answer.text.slice(0, 200)}`)
  }

  async issue(key: DemoKey): Promise<HttpResult> {
    const form = asForm({ grant_type: 'client_credentials', scope: 'vouchers' })
    const sentAt = performance.now()
    const answer = await this.send({
      path: '/v1/oauth/token',
      ...form,
      headers: { ...form.headers, ...asPair(key) },
      abortAfterMs: this.#abortAfter(),
    })
    this.#expect(answer, 'issuing', [200, 'token_limit_reached', 'api_key_blocked'])
    if (answer.status === 200)
      this.ledger.tokens.push({
        token: answer.body.access_token,
        keyId: key.id,
        sentAt,
        answeredAt: performance.now(),
        expiresAt: answer.body.expires_at * 1000,
      })
    return answer
  }

  async introspect(token: string, url?: string): Promise<HttpResult> {
    const form = asForm({ token })
    const headers = { ...form.headers, ...asPair(this.#options.demo.busy) }
    return this.send({ path: '/v1/oauth/introspect', ...form, headers }, url ?? this.#anyUrl())
  }

  async #introspectAny(): Promise<HttpResult> {
    const { ledger } = this
    const entry = this.#options.random.pick(ledger.tokens)
    if (!entry) return { status: 200, body: undefined, text: '' }
    const [before, sentAt] = [ledger.stateOf(entry), performance.now()]
    const answer = await this.introspect(entry.token)
    this.#expect(answer, 'introspecting', [200])
    if (answer.status !== 200) return answer
    if (
      answer.body.active &&
      before === 'dead' &&
      sentAt > ledger.deadSince(entry) + DEAD_EVERYWHERE_AFTER_MS
    )
      ledger.violations.push(`a dead token was reported active: ${entry.token.slice(0, 20)}…`)
    // The token may have been revoked while the request was in flight.
    if (!answer.body.active && ledger.stateOf(entry) === 'alive' && Date.now() < entry.expiresAt)
      ledger.violations.push(`a live token was reported inactive: ${entry.token.slice(0, 20)}…`)
    return answer
  }

  async #revoke(): Promise<HttpResult> {
    const { ledger } = this
    const own = ledger.tokens.filter(
      (entry) => entry.keyId === this.#options.demo.busy.id && !entry.revocation,
    )
    const entry = this.#options.random.pick(own)
    if (!entry) return { status: 200, body: undefined, text: '' }
    const kill = { sentAt: performance.now(), answeredAt: undefined as never }
    entry.revocation = kill
    const form = asForm({ token: entry.token })
    const headers = { ...form.headers, ...asPair(this.#options.demo.busy) }
    const answer = await this.send({ path: '/v1/oauth/revoke', ...form, headers })
    this.#expect(answer, 'revoking', [200])
    if (answer.status === 200) kill.answeredAt = performance.now() as never
    return answer
  }

  async #manage(key: DemoKey, verb: string): Promise<HttpResult> {
    return this.send({ method: 'POST', path: `/management/v1${key.path}/${verb}`, headers: AS_OPERATOR })
  }

  /** Blocks and unblocks the key, or revokes its tokens. Either way, no earlier token stays active. */
  async #killKey(key: DemoKey): Promise<HttpResult> {
    const verb = this.#options.random.chance(0.5) ? 'block' : 'revoke-tokens'
    const kill = { sentAt: performance.now(), answeredAt: undefined as never }
    this.ledger.killsOf(key.id).push(kill)
    const answer = await this.#manage(key, verb)
    this.#expect(answer, verb, [200])
    if (answer.status === 200) kill.answeredAt = performance.now() as never
    if (verb === 'block') await this.#manage(key, 'unblock')
    return answer
  }

  #redeem(rewardId: string): Promise<HttpResult> {
    const { demo, random } = this.#options
    const redemption: Redemption = {
      key: `redemption-${++this.#count}`,
      path: `/v1/loyalties/${demo.campaignId}/members/${random.pick(demo.cards)}/redemption`,
      body: JSON.stringify({ reward: { id: rewardId } }),
    }
    this.ledger.redemptions.push(redemption)
    return this.#tryRedemption(redemption, this.#abortAfter())
  }

  async #tryRedemption(redemption: Redemption, abortAfterMs?: number): Promise<HttpResult> {
    const { key, path, body } = redemption
    const headers = {
      ...asPair(this.#options.demo.busy),
      'content-type': 'application/json',
      'idempotency-key': key,
    }
    const answer = await this.send({ method: 'POST', path, headers, body, abortAfterMs })
    this.#expect(answer, 'redeeming', [200, 'reward_out_of_stock'])
    if (answer.body?.key === 'reward_out_of_stock') redemption.refused = true
    if (answer.status !== 200) return answer
    if (redemption.answer !== undefined && redemption.answer !== answer.text)
      this.ledger.violations.push(`a retry of ${key} got another response`)
    redemption.answer = answer.text
    return answer
  }

  #report(): Promise<HttpResult> {
    const sourceId = `report-${++this.#count}`
    const report: Report = {
      sourceId,
      body: JSON.stringify({ source_id: sourceId, data: redemptionData(`cust_${this.#count % 7}`) }),
    }
    this.ledger.reports.push(report)
    return this.#tryReport(report, this.#abortAfter())
  }

  async #tryReport(report: Report, abortAfterMs?: number): Promise<HttpResult> {
    const headers = { ...asPair(this.#options.demo.busy), 'content-type': 'application/json' }
    const request = {
      ...asJson({}),
      body: report.body,
      headers,
      path: '/v1/redemptions/rewards',
      abortAfterMs,
    }
    const answer = await this.send(request)
    this.#expect(answer, 'reporting', [200])
    if (answer.status === 200) report.eventId = answer.body.event_id
    return answer
  }

  /** Retries every request without a response, as clients do. Idempotency-Key and source_id make that safe. */
  async settle(withinMs: number): Promise<void> {
    const end = performance.now() + withinMs
    const open = () => [
      ...this.ledger.redemptions
        .filter(({ answer, refused }) => answer === undefined && !refused)
        .map((one) => () => this.#tryRedemption(one)),
      ...this.ledger.reports
        .filter(({ eventId }) => eventId === undefined)
        .map((one) => () => this.#tryReport(one)),
    ]
    const unblocking = this.#options.demo.blockedKeys.map((key) => () => this.#manage(key, 'unblock'))
    await Promise.all(unblocking.map((unblock) => unblock()))
    for (let todo = open(); todo.length > 0; todo = open()) {
      const answers = await Promise.all(todo.slice(0, AT_ONCE).map((retry) => retry()))
      if (answers.some(({ status }) => status <= 0 || status === 503)) await wait(PAUSE_AFTER_FAILURE_MS)
      if (performance.now() > end) {
        this.ledger.violations.push(
          `${todo.length} requests got no response within ${withinMs / 1000} s after the fault`,
        )
        return
      }
    }
  }
}
