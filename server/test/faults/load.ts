import { setTimeout as wait } from 'node:timers/promises'
import { redemptionData } from '../reported-redemption.ts'
import { OPERATOR } from '../service.ts'
import { type Asked, Asker, asForm, asJson, asPair, type Question } from './ask.ts'
import { Ledger, type Redemption, type Report } from './ledger.ts'
import type { Random } from './random.ts'
import type { Stage, StageKey } from './stage.ts'

const AS_OPERATOR = { 'x-management-id': OPERATOR.id, 'x-management-token': OPERATOR.token }
/** The contract's worst case between blocking a key and the last process that notices, and what a busy machine adds. */
const DEAD_EVERYWHERE_AFTER_MS = 30_000 + 15_000
const PAUSE_AFTER_FAILURE_MS = 30
const AT_ONCE = 16
/** Some callers hang up before they have heard: they do not know what became of it, and ask again. */
const HANGS_UP = 0.03

interface LoadOptions {
  /** Where the service is reached at this moment; may be nowhere. */
  readonly urls: () => readonly string[]
  readonly stage: Stage
  readonly random: Random
}

/** Callers that never rest: they issue, judge and revoke tokens, redeem, report, block and unblock. */
export class Load {
  readonly ledger = new Ledger()
  readonly #options: LoadOptions
  readonly #asker = new Asker()
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

  /** Every caller finishes what it is at, which may take as long as the service takes to answer. */
  async stop(): Promise<void> {
    this.#stopping = true
    await Promise.all(this.#running)
  }

  close(): void {
    this.#asker.close()
  }

  async ask(question: Question, url = this.#anywhere()): Promise<Asked> {
    if (url === undefined) {
      await wait(PAUSE_AFTER_FAILURE_MS)
      return { status: 0, body: undefined, text: '' }
    }
    const answer = await this.#asker.ask(url, question)
    this.ledger.statuses[answer.status] = (this.ledger.statuses[answer.status] ?? 0) + 1
    if (answer.status === -1) this.ledger.violations.push(`no answer at all: ${question.path}`)
    return answer
  }

  #anywhere(): string | undefined {
    return this.#options.random.pick(this.#options.urls())
  }

  async #work(worker: number): Promise<void> {
    const { random, stage } = this.#options
    while (!this.#stopping) {
      const act = random.weighted([
        [30, () => this.#issue(random.pick([stage.busy, stage.small, ...stage.victims]))],
        [30, () => this.#redeem(random.chance(0.2) ? stage.scarce : stage.plenty)],
        [12, () => this.#report()],
        [16, () => this.#judge()],
        [6, () => this.#revoke()],
        [2, () => this.#killKey(stage.victims[worker % stage.victims.length]!)],
      ])
      const answer = await act()
      if (answer.status === 200 || answer.status === 204) this.lastSuccessAt = performance.now()
      if (answer.status <= 0 || answer.status === 503) await wait(PAUSE_AFTER_FAILURE_MS)
    }
  }

  #hangUp(): number | undefined {
    const { random } = this.#options
    return random.chance(HANGS_UP) ? random.between(0, 15) : undefined
  }

  /** Outage and cut are answers that a caller must live with; everything else must be one of these. */
  #expect(answer: Asked, what: string, expected: readonly (number | string)[]): void {
    const name = answer.status === 200 || answer.status === 204 ? answer.status : answer.body?.key
    if (answer.status <= 0 || answer.status === 503 || expected.includes(name)) return
    this.ledger.violations.push(`${what} answered ${answer.status} ${answer.text.slice(0, 200)}`)
  }

  async #issue(key: StageKey): Promise<Asked> {
    const form = asForm({ grant_type: 'client_credentials', scope: 'vouchers' })
    const sentAt = performance.now()
    const answer = await this.ask({
      path: '/v1/oauth/token',
      ...form,
      headers: { ...form.headers, ...asPair(key) },
      cutAfterMs: this.#hangUp(),
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

  async introspect(token: string, url?: string): Promise<Asked> {
    const form = asForm({ token })
    const headers = { ...form.headers, ...asPair(this.#options.stage.busy) }
    return this.ask({ path: '/v1/oauth/introspect', ...form, headers }, url ?? this.#anywhere())
  }

  async #judge(): Promise<Asked> {
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
      ledger.violations.push(`a dead token was called active: ${entry.token.slice(0, 20)}…`)
    // It may have been killed while the question was under way.
    if (!answer.body.active && ledger.stateOf(entry) === 'alive' && Date.now() < entry.expiresAt)
      ledger.violations.push(`a live token was called inactive: ${entry.token.slice(0, 20)}…`)
    return answer
  }

  async #revoke(): Promise<Asked> {
    const { ledger } = this
    const own = ledger.tokens.filter(
      (entry) => entry.keyId === this.#options.stage.busy.id && !entry.revocation,
    )
    const entry = this.#options.random.pick(own)
    if (!entry) return { status: 200, body: undefined, text: '' }
    const kill = { sentAt: performance.now(), answeredAt: undefined as never }
    entry.revocation = kill
    const form = asForm({ token: entry.token })
    const headers = { ...form.headers, ...asPair(this.#options.stage.busy) }
    const answer = await this.ask({ path: '/v1/oauth/revoke', ...form, headers })
    this.#expect(answer, 'revoking', [200])
    if (answer.status === 200) kill.answeredAt = performance.now() as never
    return answer
  }

  async #manage(key: StageKey, verb: string): Promise<Asked> {
    return this.ask({ method: 'POST', path: `/management/v1${key.path}/${verb}`, headers: AS_OPERATOR })
  }

  /** Blocks and unblocks, or only revokes what is alive: either way nothing that was issued before lives on. */
  async #killKey(key: StageKey): Promise<Asked> {
    const verb = this.#options.random.chance(0.5) ? 'block' : 'revoke-tokens'
    const kill = { sentAt: performance.now(), answeredAt: undefined as never }
    this.ledger.killsOf(key.id).push(kill)
    const answer = await this.#manage(key, verb)
    this.#expect(answer, verb, [200])
    if (answer.status === 200) kill.answeredAt = performance.now() as never
    if (verb === 'block') await this.#manage(key, 'unblock')
    return answer
  }

  #redeem(rewardId: string): Promise<Asked> {
    const { stage, random } = this.#options
    const redemption: Redemption = {
      key: `redemption-${++this.#count}`,
      path: `/v1/loyalties/${stage.campaignId}/members/${random.pick(stage.cards)}/redemption`,
      body: JSON.stringify({ reward: { id: rewardId } }),
    }
    this.ledger.redemptions.push(redemption)
    return this.#tryRedemption(redemption, this.#hangUp())
  }

  async #tryRedemption(redemption: Redemption, cutAfterMs?: number): Promise<Asked> {
    const { key, path, body } = redemption
    const headers = {
      ...asPair(this.#options.stage.busy),
      'content-type': 'application/json',
      'idempotency-key': key,
    }
    const answer = await this.ask({ method: 'POST', path, headers, body, cutAfterMs })
    this.#expect(answer, 'redeeming', [200, 'reward_out_of_stock'])
    if (answer.body?.key === 'reward_out_of_stock') redemption.refused = true
    if (answer.status !== 200) return answer
    if (redemption.answer !== undefined && redemption.answer !== answer.text)
      this.ledger.violations.push(`a retry of ${key} got another answer`)
    redemption.answer = answer.text
    return answer
  }

  #report(): Promise<Asked> {
    const sourceId = `report-${++this.#count}`
    const report: Report = {
      sourceId,
      body: JSON.stringify({ source_id: sourceId, data: redemptionData(`cust_${this.#count % 7}`) }),
    }
    this.ledger.reports.push(report)
    return this.#tryReport(report, this.#hangUp())
  }

  async #tryReport(report: Report, cutAfterMs?: number): Promise<Asked> {
    const headers = { ...asPair(this.#options.stage.busy), 'content-type': 'application/json' }
    const question = {
      ...asJson({}),
      body: report.body,
      headers,
      path: '/v1/redemptions/rewards',
      cutAfterMs,
    }
    const answer = await this.ask(question)
    this.#expect(answer, 'reporting', [200])
    if (answer.status === 200) report.eventId = answer.body.event_id
    return answer
  }

  /** What has no answer yet is asked again until it has: as callers do, and as Idempotency-Key and source_id are for. */
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
    const unblocking = this.#options.stage.victims.map((key) => () => this.#manage(key, 'unblock'))
    await Promise.all(unblocking.map((unblock) => unblock()))
    for (let todo = open(); todo.length > 0; todo = open()) {
      const answers = await Promise.all(todo.slice(0, AT_ONCE).map((retry) => retry()))
      if (answers.some(({ status }) => status <= 0 || status === 503)) await wait(PAUSE_AFTER_FAILURE_MS)
      if (performance.now() > end) {
        this.ledger.violations.push(
          `${todo.length} requests got no answer within ${withinMs / 1000} s after the fault`,
        )
        return
      }
    }
  }
}
