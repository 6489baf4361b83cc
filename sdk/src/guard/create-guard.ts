import type { Scope } from '../generated/scopes.ts'
import type { Fetch } from '../send-request.ts'
import { normalizeAddress } from './address.ts'
import { type Answer, askGateway, type GatewayDeps, type Question } from './ask-gateway.ts'
import { RequestSlots } from './request-slots.ts'
import { projectOfToken } from './token-format.ts'
import { type Caller, refuse, responseOf, type Verdict } from './verdict.ts'

export interface GuardOptions {
  readonly baseUrl: string | URL
  /** Tokens of other projects are refused. */
  readonly projectId: string | readonly string[]
  /** How long a positive answer is used again. Default: 2,000. At most 25,000. */
  readonly maxAgeMs?: number
  /** Most positive answers in memory. Default: 10,000. */
  readonly cacheSize?: number
  /** Longest wait for an answer. Default: 2,000. */
  readonly timeoutMs?: number
  readonly fetch?: Fetch
  /** Monotonic milliseconds, for tests. */
  readonly now?: () => number
}

export interface Call {
  /** The header as it was received. */
  readonly authorization: string | null | undefined
  readonly scope: Scope
  /** Address of the caller, from the socket. Without it, IP allowlists could not be checked. */
  readonly address: string | undefined
}

export interface Guard {
  /** Decides about a call. Never rejects: a check that fails is a refusal with status 503. */
  check(call: Call): Promise<Verdict>
  /** Wraps a handler of a web-standard server. Further arguments of the server reach both functions. */
  handler<Context extends readonly unknown[]>(
    scope: Scope,
    address: (request: Request, ...context: Context) => string | undefined,
    next: (request: Request, caller: Caller, ...context: Context) => Response | Promise<Response>,
  ): (request: Request, ...context: Context) => Promise<Response>
}

/** Jeton needs at most 30 s to learn that a key is blocked. With 25 s more, a blocked key is refused within a minute. */
const MAX_AGE_MS = 25_000
const MAX_CONCURRENT_REQUESTS = 100

interface Settings extends GatewayDeps {
  readonly maxAgeMs: number
  readonly cacheSize: number
  readonly timeoutMs: number
  readonly now: () => number
}

function settingsOf(options: GuardOptions): Settings {
  const { maxAgeMs = 2_000, cacheSize = 10_000, timeoutMs = 2_000 } = options
  if (!(maxAgeMs >= 0 && maxAgeMs <= MAX_AGE_MS))
    throw new RangeError(`maxAgeMs must be between 0 and ${MAX_AGE_MS}.`)
  const projectIds = new Set([options.projectId].flat())
  if (projectIds.size === 0 || [...projectIds].some((id) => typeof id !== 'string' || id === ''))
    throw new TypeError('projectId is required: tokens of other projects must be refused.')
  const { baseUrl, fetch, now = () => performance.now() } = options
  return { baseUrl: new URL(baseUrl), fetch, projectIds, maxAgeMs, cacheSize, timeoutMs, now }
}

/** An answer, and until when a question may use it. */
interface Dated extends Answer {
  readonly until: number
  /** Wall clock when the question was sent. */
  readonly sentAtWall: number
}

/**
 * True if a question of now may use the answer. The monotonic clock stands still while a machine sleeps, so the wall clock
 * must agree. A wall clock that was set only costs a request.
 */
function isFresh({ until, sentAtWall }: Dated, askedAt: number): boolean {
  const ageMs = Date.now() - sentAtWall
  return askedAt < until && ageMs >= 0 && ageMs <= MAX_AGE_MS
}

/** Answers of Jeton. Only positive ones are kept. */
class Answers {
  readonly #settings: Settings
  readonly #slots = new RequestSlots(MAX_CONCURRENT_REQUESTS)
  readonly #kept = new Map<string, Dated>()
  readonly #running = new Map<string, { readonly sentAt: number; readonly answer: Promise<Dated> }>()

  constructor(settings: Settings) {
    this.#settings = settings
  }

  async find(question: Question): Promise<Verdict> {
    const key = `${await sha256(question.token)} ${question.scope} ${question.address}`
    const askedAt = this.#settings.now()
    const kept = this.#kept.get(key)
    if (kept && isFresh(kept, askedAt)) return kept.verdict
    // A request that was sent too long ago may miss a change that this question must see.
    const running = this.#running.get(key)
    if (running && askedAt < running.sentAt + this.#settings.maxAgeMs) {
      const shared = await running.answer
      if (!shared.verdict.allowed || isFresh(shared, askedAt)) return shared.verdict
    }
    return (await this.#ask(key, question)).verdict
  }

  async #ask(key: string, question: Question): Promise<Dated> {
    const { now, timeoutMs } = this.#settings
    const sentAt = now()
    const answer = this.#slots.run(timeoutMs, () => this.#send(question)).then((found) => found ?? TOO_MANY)
    const running = { sentAt, answer }
    this.#running.set(key, running)
    const dated = await answer
    if (this.#running.get(key) === running) this.#running.delete(key)
    if (dated.verdict.allowed) this.#keep(key, dated)
    return dated
  }

  /** Counts from when the request was sent: Jeton may have decided at once and answered late. */
  async #send(question: Question): Promise<Dated> {
    const { maxAgeMs, timeoutMs, now } = this.#settings
    const [sentAt, sentAtWall] = [now(), Date.now()]
    const answer = await askGateway(this.#settings, question, timeoutMs)
    return { ...answer, sentAtWall, until: sentAt + Math.min(maxAgeMs, answer.expiresInMs) }
  }

  #keep(key: string, dated: Dated): void {
    this.#kept.delete(key)
    if (dated.until <= this.#settings.now() || this.#settings.cacheSize < 1) return
    if (this.#kept.size >= this.#settings.cacheSize) this.#kept.delete(this.#kept.keys().next().value!)
    this.#kept.set(key, dated)
  }
}

const TOO_MANY: Dated = {
  verdict: refuse('unavailable', { message: 'Too many requests to Jeton are waiting.' }),
  expiresInMs: 0,
  until: 0,
  sentAtWall: 0,
}

/** Memory holds digests and no tokens. */
async function sha256(token: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(token))
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Protects an API: asks Jeton about every call. There is no option to let calls pass while Jeton does not answer. */
export function createGuard(options: GuardOptions): Guard {
  const settings = settingsOf(options)
  const answers = new Answers(settings)

  async function check({ authorization, scope, address }: Call): Promise<Verdict> {
    const [, token] = /^bearer +(.*)$/i.exec(authorization ?? '') ?? []
    if (token === undefined) return refuse('missing')
    const projectId = projectOfToken(token)
    if (projectId === undefined) return refuse('malformed')
    if (!settings.projectIds.has(projectId)) return refuse('inactive')
    const plain = normalizeAddress(address)
    if (plain === undefined) return refuse('address_unknown', { message: `${address} is not an IP address.` })
    try {
      return await answers.find({ token, scope, address: plain })
    } catch (error) {
      return refuse('unavailable', { message: String(error) })
    }
  }

  return {
    check,
    handler:
      (scope, address, next) =>
      async (request, ...context) => {
        const authorization = request.headers.get('authorization')
        const verdict = await check({ authorization, scope, address: address(request, ...context) })
        return verdict.allowed ? next(request, verdict.caller, ...context) : responseOf(verdict)
      },
  }
}
