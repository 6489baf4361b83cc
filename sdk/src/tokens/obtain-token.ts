import { JetonUnavailable } from '../errors.ts'
import type { Scope } from '../generated/scopes.ts'
import type { TokenFields } from './access-token.ts'
import { type KeyPair, requestToken, type TokenEndpoint } from './request-token.ts'
import { type HeldToken, readEntry, storeKey, type TokenStore } from './token-store.ts'

export interface ObtainDeps extends TokenEndpoint {
  readonly readKey: () => KeyPair | Promise<KeyPair>
  readonly scope: readonly Scope[]
  readonly store?: TokenStore | undefined
  /** Share of the lifetime after which a token is refreshed. */
  readonly refreshAt: number
  /** Monotonic milliseconds. */
  readonly now: () => number
  readonly onIssued: (tookMs: number) => void
  readonly onStoreFailed: (error: unknown) => void
}

/** A token of the store is used if it has this much left. It also covers the second that the server rounds away. */
const MIN_LEFT_MS = 1_000
const POLL_EVERY_MS = 100

/** Another process holds the lock of the store. */
export class LockBusy extends JetonUnavailable {
  constructor() {
    super('Another process requests a token and has not stored it in time.', { retryAfterMs: 1_000 })
  }
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/**
 * Takes the token that another process stored, or requests one. With a store one process requests at a time: the others
 * wait for its token until `deadline`. `isUsable` decides about a stored token.
 */
export async function obtainToken(
  deps: ObtainDeps,
  deadline: number,
  isUsable: (held: HeldToken) => boolean,
): Promise<HeldToken> {
  const pair = await deps.readKey()
  if (!deps.store) return issue(deps, pair)
  const shared = sharedTokens(deps, deps.store, pair)
  for (;;) {
    const found = await shared.find(isUsable)
    if (found) return found
    const lock = await shared.lock()
    if (lock === 'failed') return issue(deps, pair)
    if (lock === 'taken') return shared.issueUnlessFound(isUsable)
    if (deps.now() + POLL_EVERY_MS > deadline) throw new LockBusy()
    await sleep(POLL_EVERY_MS)
  }
}

async function issue(deps: ObtainDeps, pair: KeyPair): Promise<HeldToken> {
  const sentAt = deps.now()
  const fields = await requestToken(deps, pair, deps.scope)
  deps.onIssued(deps.now() - sentAt)
  return held(deps, fields, { from: sentAt, leftMs: fields.expires_in * 1000, isShared: false })
}

/**
 * Counts from when the request was sent, so that a slow answer never makes a token live longer. The last second is left
 * out: tokens end with the whole second, and `expires_in` does not say how much of it has passed.
 */
function held(
  { refreshAt }: ObtainDeps,
  fields: TokenFields,
  { from, leftMs, isShared }: { from: number; leftMs: number; isShared: boolean },
): HeldToken {
  const lifeMs = fields.expires_in * 1000
  const jitter = 0.9 + Math.random() * 0.2
  const expiresAt = from + leftMs - MIN_LEFT_MS
  return { fields, isShared, expiresAt, refreshAt: from + leftMs - lifeMs * (1 - refreshAt * jitter) }
}

/** The tokens of a store. A store that fails is left out: a token of our own is better than none. */
function sharedTokens(deps: ObtainDeps, store: TokenStore, pair: KeyPair) {
  const key = storeKey(deps.baseUrl, pair.appId, deps.scope)

  async function attempt<Result>(action: () => Promise<Result>): Promise<Result | 'failed'> {
    try {
      return await action()
    } catch (error) {
      deps.onStoreFailed(error)
      return 'failed'
    }
  }

  async function find(isUsable: (held: HeldToken) => boolean): Promise<HeldToken | undefined> {
    const text = await attempt(() => store.get(key))
    const entry = text === 'failed' ? undefined : readEntry(text)
    if (!entry || entry.leftMs <= MIN_LEFT_MS) return undefined
    const found = held(deps, entry.fields, { from: deps.now(), leftMs: entry.leftMs, isShared: true })
    return isUsable(found) ? found : undefined
  }

  async function issueAndStore(): Promise<HeldToken> {
    const token = await issue(deps, pair)
    const ttlMs = token.fields.expires_in * 1000
    const stored = await attempt(() => store.set(key, JSON.stringify(token.fields), ttlMs))
    return { ...token, isShared: stored !== 'failed' }
  }

  return {
    find,
    async lock(): Promise<'taken' | 'busy' | 'failed'> {
      const taken = await attempt(() => store.lock(key, deps.timeoutMs))
      return taken === 'failed' ? 'failed' : taken ? 'taken' : 'busy'
    },
    /** Looks again under the lock: another process may have stored a token in between. */
    async issueUnlessFound(isUsable: (held: HeldToken) => boolean): Promise<HeldToken> {
      try {
        return (await find(isUsable)) ?? (await issueAndStore())
      } finally {
        await attempt(() => store.unlock(key))
      }
    },
  }
}
