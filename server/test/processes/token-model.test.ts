import { afterAll, beforeAll, expect, test } from 'vitest'
import { eachEngine } from '../engines.ts'
import { type MultiProcess, type ServiceProcess, startProcesses } from '../multi-process.ts'
import fc from '../properties.ts'
import type { Answer } from '../service.ts'

/*
 * A short model of the states of keys and tokens, and random histories at two processes of one store, which must agree
 * with it.
 */

interface ModelKey {
  state: 'active' | 'blocked' | 'deleted'
  secret: string
  previous: { secret: string; until: number } | undefined
  readonly firstSecret: string
  readonly limit: number | null
}

interface ModelToken {
  readonly value: string
  readonly key: number
  readonly expiresAt: number
  dead: boolean
  /** The process in which it died, until the other one has had its two seconds. */
  diedIn: number | undefined
}

class Model {
  readonly keys: ModelKey[] = []
  readonly tokens: ModelToken[] = []

  isActive = (token: ModelToken, now: number): boolean => !token.dead && now < token.expiresAt

  activeOf = (key: number, now: number): ModelToken[] =>
    this.tokens.filter((token) => token.key === key && this.isActive(token, now))

  /** Ends the token in this process immediately, and in the other one after at most two seconds. */
  kill(token: ModelToken, where: number): void {
    token.diedIn = token.dead && token.diedIn !== where ? undefined : where
    token.dead = true
  }

  killAll(key: number, where: number): void {
    for (const token of this.tokens) if (token.key === key) this.kill(token, where)
  }

  /** The expected key of the error for a token request, or undefined if it gets a token. */
  refusal(index: number, secret: string, now: number): string | undefined {
    const key = this.keys[index]!
    const isPrevious = key.previous?.secret === secret && now < key.previous.until
    if (key.state === 'deleted' || (secret !== key.secret && !isPrevious)) return 'unauthorized'
    if (key.state === 'blocked') return 'api_key_blocked'
    if (key.limit !== null && this.activeOf(index, now).length >= key.limit) return 'token_limit_reached'
    return undefined
  }
}

type Verb = 'block' | 'unblock' | 'revoke-tokens' | 'delete'
type Step =
  | { do: 'issue'; at: number; key: number; secret: 'present' | 'previous' | 'first' }
  | { do: Verb; at: number; key: number }
  | { do: 'regenerate'; at: number; key: number; grace: number }
  | { do: 'revoke'; at: number; token: number; by: number }
  | { do: 'introspect'; at: number }
  | { do: 'wait'; ms: number }
  | { do: 'wait-until-expiry'; token: number; early: number }

const at = fc.constantFrom(0, 1)
const key = fc.constantFrom(0, 1)
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constant('issue' as const),
      at,
      key,
      secret: fc.constantFrom('present', 'present', 'present', 'previous', 'first'),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constantFrom('block', 'unblock', 'unblock', 'revoke-tokens') as fc.Arbitrary<Verb>,
      at,
      key,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('delete' as const), at, key }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('regenerate' as const),
      at,
      key,
      grace: fc.constantFrom(0, 0, 30, 3_600),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('revoke' as const), at, token: fc.nat(20), by: key }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('introspect' as const), at }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      ms: fc.constantFrom(1, 700, 29_999, 61_000, 300_000, 899_000),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('wait-until-expiry' as const),
      token: fc.nat(20),
      early: fc.constantFrom(0, 0, 1),
    }),
  },
)

const RUNS = 12

/** Sends one history and compares every response with the model. */
class Run {
  readonly model = new Model()
  readonly #service: MultiProcess
  readonly #pairs: { appId: string; path: string }[] = []
  #asker = { appId: '', appToken: '' }
  #address = 0
  /** A process may not know yet of a change made in the other. */
  #unsettled = false

  constructor(multiProcess: MultiProcess) {
    this.#service = multiProcess
  }

  process = (index: number): ServiceProcess => this.#service.processes[index]!

  async prepare(name: string, limits: readonly (number | null)[]): Promise<void> {
    const [first] = this.#service.processes
    const project = await first!.project(name)
    this.#asker = await first!.key(project.id)
    for (const limit of limits) {
      const { appId, appToken, path } = await first!.key(project.id, { token_limit: limit })
      this.#pairs.push({ appId, path })
      this.model.keys.push({
        state: 'active',
        secret: appToken,
        firstSecret: appToken,
        previous: undefined,
        limit,
      })
    }
  }

  async take(step: Step): Promise<void> {
    const now = this.#service.now()
    switch (step.do) {
      case 'issue':
        await this.#issue(step, now)
        return this.#agrees(step.at)
      case 'regenerate':
        await this.#regenerate(step, now)
        return this.#changed(step.at)
      case 'revoke':
        await this.#settle()
        await this.#revoke(step)
        return this.#changed(step.at)
      case 'introspect':
        await this.#agrees(step.at)
        await this.#settle()
        return this.#agrees(step.at)
      case 'wait':
        return this.#wait(step.ms)
      case 'wait-until-expiry': {
        const token = this.model.tokens[step.token % this.model.tokens.length]
        return token && token.expiresAt > now ? this.#wait(token.expiresAt - step.early - now) : undefined
      }
      default:
        await this.#change(step)
        return this.#changed(step.at)
    }
  }

  async #issue(step: Step & { do: 'issue' }, now: number): Promise<void> {
    const modelKey = this.model.keys[step.key]!
    const secrets = {
      present: modelKey.secret,
      previous: modelKey.previous?.secret ?? modelKey.secret,
      first: modelKey.firstSecret,
    }
    const secret = secrets[step.secret]
    const expected = this.model.refusal(step.key, secret, now)
    // Every request has its own address, so that wrong secrets are not throttled.
    const from = { 'x-forwarded-for': `10.0.${this.#address >> 8}.${this.#address++ & 255}` }
    const answer = await this.process(step.at).issue(
      { appId: this.#pairs[step.key]!.appId, appToken: secret },
      'vouchers',
      from,
    )
    expect(answer.body.key).toBe(expected)
    if (expected === 'token_limit_reached') this.#tellsWhenFree(answer, step.key, now)
    if (expected !== undefined) return
    const expiresAt = Math.floor(now / 1000) * 1000 + 900_000
    expect(answer.body).toMatchObject({ expires_in: 900, expires_at: expiresAt / 1000 })
    this.model.tokens.push({
      value: answer.body.access_token,
      key: step.key,
      expiresAt,
      dead: false,
      diedIn: undefined,
    })
  }

  #tellsWhenFree(answer: Answer, key: number, now: number): void {
    const oldest = Math.min(...this.model.activeOf(key, now).map((token) => token.expiresAt))
    expect(answer.headers.get('retry-after')).toBe(String(Math.ceil((oldest - now) / 1000)))
  }

  async #change(step: { do: Verb; at: number; key: number }): Promise<void> {
    const { path } = this.#pairs[step.key]!
    const modelKey = this.model.keys[step.key]!
    const { manage } = this.process(step.at)
    const answer = await (step.do === 'delete'
      ? manage('DELETE', path)
      : manage('POST', `${path}/${step.do}`))
    expect(answer.status).toBe(modelKey.state === 'deleted' ? 409 : 200)
    if (modelKey.state === 'deleted') return
    const kills = step.do !== 'unblock' && !(step.do === 'block' && modelKey.state === 'blocked')
    if (kills) this.model.killAll(step.key, step.at)
    modelKey.state = (
      { block: 'blocked', unblock: 'active', delete: 'deleted', 'revoke-tokens': modelKey.state } as const
    )[step.do]
  }

  async #regenerate(step: Step & { do: 'regenerate' }, now: number): Promise<void> {
    const modelKey = this.model.keys[step.key]!
    const body = step.grace === 0 ? undefined : { grace_seconds: step.grace }
    const answer = await this.process(step.at).manage(
      'POST',
      `${this.#pairs[step.key]!.path}/regenerate`,
      body,
    )
    expect(answer.status).toBe(modelKey.state === 'deleted' ? 409 : 200)
    if (modelKey.state === 'deleted') return
    modelKey.previous = { secret: modelKey.secret, until: now + step.grace * 1000 }
    modelKey.secret = answer.body.app_token
  }

  async #revoke(step: Step & { do: 'revoke' }): Promise<void> {
    const token = this.model.tokens[step.token % this.model.tokens.length]
    if (!token) return
    const modelKey = this.model.keys[step.by]!
    const pair = { appId: this.#pairs[step.by]!.appId, appToken: modelKey.secret }
    const { status } = await this.process(step.at).form(
      '/v1/oauth/token/revoke',
      { token: token.value },
      pair,
    )
    const isThere = token.key === step.by && this.model.isActive(token, this.#service.now())
    expect(status).toBe(modelKey.state === 'active' ? (isThere ? 204 : 404) : 401)
    if (status === 204) this.model.kill(token, step.at)
  }

  /** Where the change was made it counts at once. Elsewhere nothing that is active may be called dead meanwhile. */
  async #changed(where: number): Promise<void> {
    this.#unsettled = true
    await this.#agrees(where)
    await this.#agrees(1 - where)
  }

  /** Advances by two seconds, in which every process has polled. */
  async #settle(): Promise<void> {
    if (this.#unsettled) await this.#wait(1_500)
  }

  async #wait(ms: number): Promise<void> {
    await this.#service.advance(ms)
    await Promise.all(this.#service.processes.map((process) => process.pollChanges()))
    for (const token of this.model.tokens) token.diedIn = undefined
    this.#unsettled = false
    for (const index of this.#service.processes.keys()) await this.#agrees(index)
  }

  async #agrees(where: number): Promise<void> {
    const now = this.#service.now()
    await Promise.all(
      this.model.tokens.map(async (token, i) => {
        const active = this.model.isActive(token, now)
        if (now < token.expiresAt && token.diedIn === 1 - where) return
        const { text, body } = await this.process(where).introspect(this.#asker, token.value)
        const about = `token ${i} in process ${where}`
        if (!active) return expect(text, about).toBe('{"active":false}')
        const left = Math.ceil((token.expiresAt - now) / 1000)
        expect(body, about).toMatchObject({
          active: true,
          expires_in: left,
          expires_at: token.expiresAt / 1000,
        })
      }),
    )
  }
}

eachEngine((engine) => {
  let multiProcess: MultiProcess
  let runs = 0

  beforeAll(async () => {
    multiProcess = await startProcesses(engine, 2, { JETON_TRUSTED_PROXIES: '127.0.0.1' })
  })
  afterAll(() => multiProcess.close())

  /** No time limit that ends the property early: all runs pass, or the test fails. */
  const TIMEOUT_MS = 600_000

  test('random histories at two processes of one store agree with the model of token states', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const history = fc.array(step, { minLength: 8, maxLength: 25, size: 'max' })
    const limits = fc.tuple(fc.constantFrom(null, 1, 3), fc.constant(null))
    let completed = 0
    await fc.assert(
      fc.asyncProperty(limits, history, async (keyLimits, steps) => {
        const run = new Run(multiProcess)
        await run.prepare(`Run ${runs++}`, keyLimits)
        for (const one of steps) await run.take(one)
        await run.take({ do: 'introspect', at: 0 })
        await run.take({ do: 'introspect', at: 1 })
        completed++
      }),
      { numRuns: RUNS },
    )
    expect(completed).toBe(RUNS)
  })
})
