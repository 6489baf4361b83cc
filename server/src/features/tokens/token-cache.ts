import { LRUCache } from 'lru-cache'
import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/index.ts'
import { type ApiKeyRow, findApiKey, findApiKeyByAppId } from '../api-keys/index.ts'
import { BatchLoader } from './batch-loader.ts'
import { type CachedKey, cachedKey } from './cached-key.ts'
import { DatabaseClock } from './database-clock.ts'
import { findTokens } from './token.store.ts'
import { cacheKeyOfDigest, type TokenLocator, type TokenRow } from './token.ts'

/** Maximum age of a cached verdict: half of the minute within which a blocked key must stop working everywhere. */
const MAX_STALENESS_MS = 30_000
const MAX_KEYS = 20_000

/** A token in the cache, with only the fields of a verdict to save memory. */
export interface CachedToken {
  readonly projectId: string
  readonly keyId: string
  readonly epoch: number
  readonly scope: string
  readonly expiresAt: number
  revoked: boolean
  readonly readAt: number
}

interface Deps {
  readonly db: Database
  readonly clock: Clock
  readonly maxTokens: number
}

/**
 * Tokens and keys that this process has seen. An entry is valid while it was read less than 30 s ago and the change feed has
 * been polled within 30 s; otherwise the database must answer. A lower version of a key never replaces a higher one.
 */
export class TokenCache {
  readonly databaseClock: DatabaseClock
  readonly #clock: Clock
  readonly #tokens: LRUCache<string, CachedToken>
  readonly #keys = new LRUCache<string, CachedKey>({ max: MAX_KEYS })
  readonly #keyIdsByAppId = new LRUCache<string, string>({ max: MAX_KEYS })
  readonly #tokenLoader: BatchLoader<TokenLocator, TokenRow | undefined>
  readonly #keyLoader: BatchLoader<{ projectId: string; id: string }, ApiKeyRow | undefined>
  readonly #appIdLoader: BatchLoader<string, ApiKeyRow | undefined>
  #confirmedAt = Number.NEGATIVE_INFINITY
  /** Raised by everything that may outdate a read that is in flight. */
  #generation = 0
  hits = 0
  misses = 0

  constructor({ db, clock, maxTokens }: Deps) {
    this.#clock = clock
    this.databaseClock = new DatabaseClock(clock)
    this.#tokens = new LRUCache({ max: maxTokens })
    this.#tokenLoader = new BatchLoader((locators) => readTokens(db, locators))
    this.#keyLoader = new BatchLoader((ids) =>
      Promise.all(ids.map(({ projectId, id }) => findApiKey(db, projectId, id))),
    )
    this.#appIdLoader = new BatchLoader((ids) => Promise.all(ids.map((id) => findApiKeyByAppId(db, id))))
  }

  get size(): number {
    return this.#tokens.size
  }

  /** Age of the last confirmation of key state. */
  get keyStateAgeSeconds(): number | undefined {
    const ageMs = this.#clock.monotonic() - this.#confirmedAt
    return Number.isFinite(ageMs) ? ageMs / 1000 : undefined
  }

  /** Ages count from when the query was sent, because changes during the query may be missing in its result. */
  #isFresh(readAt: number): boolean {
    const oldest = this.#clock.monotonic() - MAX_STALENESS_MS
    return readAt > oldest && this.#confirmedAt > oldest
  }

  /** Called when a poll starts: earlier reads may be older than the result of the poll. */
  discardPendingReads(): void {
    this.#generation++
  }

  /** Called when the poll that was sent at this time has been applied. */
  confirm(sentAt: number): void {
    this.#confirmedAt = sentAt
  }

  get(cacheKey: string): CachedToken | undefined {
    const token = this.#tokens.get(cacheKey)
    if (!token || !(token.revoked || this.#isFresh(token.readAt))) return undefined
    this.hits++
    return token
  }

  /** Reads the token from the database; undefined if unknown. Throws if the database does not answer. */
  async load(locator: TokenLocator, cacheKey: string): Promise<CachedToken | undefined> {
    this.misses++
    const [readAt, generation] = [this.#clock.monotonic(), this.#generation]
    const row = await this.#tokenLoader.load(cacheKey, locator)
    if (!row) return void this.#tokens.delete(cacheKey)
    const token = cachedToken(row, readAt)
    if (generation === this.#generation) this.#tokens.set(cacheKey, token)
    return token
  }

  putIssued(cacheKey: string, issued: Omit<CachedToken, 'revoked' | 'readAt'>): void {
    this.#tokens.set(cacheKey, { ...issued, revoked: false, readAt: this.#clock.monotonic() })
  }

  markRevoked(digest: Uint8Array): void {
    const token = this.#tokens.peek(cacheKeyOfDigest(digest))
    if (token) token.revoked = true
    // A read in flight may still return it as active, even one that renews an expired entry.
    this.#generation++
  }

  /**
   * Returns the cached key, unless a token of this epoch proves that the database has a newer one. A lower epoch is older
   * than the token. So is a blocked key of the same epoch: blocking raises the epoch, so the token was issued after an
   * unblocking.
   */
  getKey(id: string, epochOfToken = 0): CachedKey | undefined {
    const key = this.#keys.get(id)
    if (!key || !this.#isFresh(key.readAt)) return undefined
    const { epoch, state } = key.row
    const isOlder = epoch < epochOfToken || (epoch === epochOfToken && state !== 'active')
    return isOlder ? undefined : key
  }

  /** Reads the key from the database, because no request is refused only because of a cached key. */
  async loadKey(projectId: string, id: string): Promise<CachedKey | undefined> {
    const readAt = this.#clock.monotonic()
    const row = await this.#keyLoader.load(id, { projectId, id })
    return row && this.putKey(row, readAt)
  }

  getKeyByAppId(appId: string): CachedKey | undefined {
    const id = this.#keyIdsByAppId.get(appId)
    return id === undefined ? undefined : this.getKey(id)
  }

  async loadKeyByAppId(appId: string): Promise<CachedKey | undefined> {
    const readAt = this.#clock.monotonic()
    const row = await this.#appIdLoader.load(appId, appId)
    return row && this.putKey(row, readAt)
  }

  putKey(row: ApiKeyRow, readAt = this.#clock.monotonic()): CachedKey {
    const known = this.#keys.get(row.id)
    if (known && known.row.version > row.version) return known
    const key =
      known?.row.version === row.version
        ? { ...known, readAt: Math.max(known.readAt, readAt) }
        : cachedKey(row, readAt)
    this.#keys.set(row.id, key)
    this.#keyIdsByAppId.set(row.app_id, row.id)
    return key
  }

  /** Renews a key that still has this version in the database. Returns false if the cache has another version. */
  confirmKey(id: string, version: number, readAt: number): boolean {
    const key = this.#keys.get(id)
    if (key?.row.version === version) this.putKey(key.row, readAt)
    return key === undefined || key.row.version === version
  }

  /** Replaces a cached key. Keys that are not cached are read when they are used. */
  updateKey(row: ApiKeyRow, readAt: number): void {
    if (this.#keys.get(row.id)) this.putKey(row, readAt)
  }

  deleteKeysOf(projectId: string): void {
    for (const { row } of [...this.#keys.values()])
      if (row.project_id === projectId) this.#keys.delete(row.id)
  }
}

export const cachedToken = (row: TokenRow, readAt: number): CachedToken => ({
  projectId: row.project_id,
  keyId: row.key_id,
  epoch: row.epoch,
  scope: row.scope,
  expiresAt: row.expires_at,
  revoked: row.revoked_at !== null,
  readAt,
})

async function readTokens(
  db: Database,
  locators: readonly TokenLocator[],
): Promise<(TokenRow | undefined)[]> {
  const rows = await findTokens(db, locators)
  const found = new Map(rows.map((row) => [cacheKeyOfDigest(row.digest), row]))
  return locators.map(({ projectId, digest }) => {
    const row = found.get(cacheKeyOfDigest(digest))
    return row?.project_id === projectId ? row : undefined
  })
}
