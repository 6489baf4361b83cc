/// <reference lib="esnext.disposable" preserve="true" />
import { JetonError } from '../errors.ts'
import type { Scope } from '../generated/scopes.ts'
import type { Fetch } from '../send-request.ts'
import { AccessToken } from './access-token.ts'
import { LockBusy, type ObtainDeps, obtainToken, sleep } from './obtain-token.ts'
import { type KeyPair, revokeToken } from './request-token.ts'
import type { HeldToken, TokenStore } from './token-store.ts'

export interface TokenSourceOptions {
  readonly baseUrl: string | URL
  /** A function is called before every request, so that it can return a new secret after a rotation. */
  readonly key: KeyPair | (() => KeyPair | Promise<KeyPair>)
  readonly scope: readonly Scope[]
  /** Shares the token between processes. */
  readonly store?: TokenStore
  /** Share of the lifetime after which a new token is requested in the background. Default: 0.8, varied by 10 %. */
  readonly refreshAt?: number
  /** Limit for one request, and for all waiting in `get`. Default: 5,000. */
  readonly timeoutMs?: number
  readonly fetch?: Fetch
  readonly onEvent?: (event: TokenSourceEvent) => void
  /** Monotonic milliseconds, for tests. */
  readonly now?: () => number
}

export type TokenSourceEvent =
  | { readonly type: 'issued'; readonly tookMs: number }
  | { readonly type: 'refused'; readonly error: JetonError; readonly servingOldForMs: number }
  | { readonly type: 'unavailable'; readonly error: unknown; readonly servingOldForMs: number }
  | { readonly type: 'store_failed'; readonly error: unknown }

export interface TokenSource extends AsyncDisposable {
  /**
   * Returns a valid token. Any number of callers cause one request. Rejects with JetonError if Jeton refuses, and with
   * JetonUnavailable if it does not answer.
   */
  get(options?: { readonly signal?: AbortSignal }): Promise<AccessToken>
  /** Forgets this token, and no newer one, after an API has refused it. */
  forget(token: AccessToken): void
  /** Revokes the token, unless other processes share it, so that it no longer counts towards the limit. */
  close(): Promise<void>
}

/** After a refresh failed and Jeton named no time. Until then every caller gets the old token without a request. */
const RETRY_REFRESH_MS = 5_000
/** Spreads clients that were refused at the same time. */
const spread = (ms: number): number => ms * (1 + Math.random() * 0.2)

class RefreshingTokenSource implements TokenSource {
  readonly #deps: ObtainDeps
  readonly #onEvent: (event: TokenSourceEvent) => void
  #current: { readonly held: HeldToken; readonly token: AccessToken } | undefined
  #pending: Promise<AccessToken> | undefined
  #forgotten: string | undefined
  #refreshNotBefore = 0
  #limited: { readonly until: number; readonly error: JetonError } | undefined
  #isClosed = false

  constructor(options: TokenSourceOptions) {
    const { baseUrl, key, scope, store, fetch, onEvent } = options
    this.#onEvent = (event) => {
      try {
        onEvent?.(event)
      } catch {
        // A listener that fails must not cost the caller its token.
      }
    }
    this.#deps = {
      baseUrl,
      scope,
      store,
      fetch,
      readKey: typeof key === 'function' ? key : () => key,
      refreshAt: options.refreshAt ?? 0.8,
      timeoutMs: options.timeoutMs ?? 5_000,
      now: options.now ?? (() => performance.now()),
      onIssued: (tookMs) => this.#onEvent({ type: 'issued', tookMs }),
      onStoreFailed: (error) => this.#onEvent({ type: 'store_failed', error }),
    }
  }

  get({ signal }: { readonly signal?: AbortSignal } = {}): Promise<AccessToken> {
    if (this.#isClosed) return Promise.reject(new Error('This token source is closed.'))
    const now = this.#deps.now()
    if (this.#servingMs(now) === 0)
      return abortable(
        this.#share(() => this.#obtain()),
        signal,
      )
    const { held, token } = this.#current!
    if (now >= held.refreshAt && now >= this.#refreshNotBefore && !this.#pending)
      this.#share(() => this.#refresh(held)).catch(() => undefined)
    return Promise.resolve(token)
  }

  forget(token: AccessToken): void {
    if (this.#current?.token.value !== token.value) return
    this.#forgotten = token.value
    this.#current = undefined
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    await this.#pending?.catch(() => undefined)
    const held = this.#current?.held
    this.#current = undefined
    if (!held || held.isShared) return
    try {
      await revokeToken(this.#deps, await this.#deps.readKey(), held.fields.access_token)
    } catch (error) {
      this.#report(error)
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #servingMs(now: number): number {
    return Math.max(0, (this.#current?.held.expiresAt ?? 0) - now)
  }

  /** One request at a time. */
  #share(start: () => Promise<AccessToken>): Promise<AccessToken> {
    this.#pending ??= start().finally(() => {
      this.#pending = undefined
    })
    return this.#pending
  }

  /** Waits if Jeton says for how long, as far as the timeout allows. */
  async #obtain(): Promise<AccessToken> {
    const deadline = this.#deps.now() + this.#deps.timeoutMs
    for (;;) {
      await this.#waitForLimit(deadline)
      try {
        return this.#use(await obtainToken(this.#deps, deadline, (held) => this.#isWanted(held)))
      } catch (error) {
        this.#report(error)
        if (!this.#noteLimit(error)) throw error
      }
    }
  }

  async #refresh(old: HeldToken): Promise<AccessToken> {
    const { now } = this.#deps
    const isNewer = (held: HeldToken) =>
      this.#isWanted(held) && held.fields.access_token !== old.fields.access_token && held.refreshAt > now()
    try {
      return this.#use(await obtainToken(this.#deps, now(), isNewer))
    } catch (error) {
      if (!(error instanceof LockBusy)) this.#report(error)
      this.#noteLimit(error)
      const waitMs = (error as Partial<JetonError>).retryAfterMs ?? RETRY_REFRESH_MS
      this.#refreshNotBefore = now() + spread(waitMs)
      throw error
    }
  }

  #isWanted({ fields }: HeldToken): boolean {
    return fields.access_token !== this.#forgotten
  }

  #use(held: HeldToken): AccessToken {
    const { now } = this.#deps
    const token = new AccessToken(held.fields, () => held.expiresAt - now())
    this.#current = { held, token }
    this.#limited = undefined
    this.#refreshNotBefore = 0
    return token
  }

  /** True if Jeton refused and named the time of the next attempt. */
  #noteLimit(error: unknown): boolean {
    if (!(error instanceof JetonError) || error.status !== 429 || !error.retryAfterMs) return false
    this.#limited = { until: this.#deps.now() + spread(error.retryAfterMs), error }
    return true
  }

  async #waitForLimit(deadline: number): Promise<void> {
    if (!this.#limited) return
    const { until, error } = this.#limited
    const waitMs = until - this.#deps.now()
    if (waitMs <= 0) return
    if (until > deadline) throw new JetonError({ ...error, message: error.message, retryAfterMs: waitMs })
    await sleep(waitMs)
  }

  #report(error: unknown): void {
    const servingOldForMs = this.#servingMs(this.#deps.now())
    if (error instanceof JetonError) this.#onEvent({ type: 'refused', error, servingOldForMs })
    else this.#onEvent({ type: 'unavailable', error, servingOldForMs })
  }
}

/** Ends the wait of one caller. The request goes on for the others. */
function abortable<Result>(promise: Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
  if (!signal) return promise
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

/** Requests tokens for one API key and scope, and keeps the current one. */
export const createTokenSource = (options: TokenSourceOptions): TokenSource =>
  new RefreshingTokenSource(options)
