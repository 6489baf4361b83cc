import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/index.ts'
import { listKeysChangedSince, listVersionsChangedSince, readKeyStateVersion } from '../api-keys/index.ts'
import { latestIssueTime, listTokensRevokedSince } from './token.store.ts'
import type { TokenCache } from './token-cache.ts'

/** Each poll reads this far back, because a transaction that started earlier may commit later. A cursor would skip it. */
const OVERLAP_MS = 60_000

interface Deps {
  readonly db: Database
  readonly clock: Clock
  readonly cache: TokenCache
}

/** Keeps the cache up to date: reads which keys changed and which tokens were revoked in the last minute. */
export class ChangeFeed {
  readonly #deps: Deps
  #polling: Promise<void> | undefined
  /** The key-state version that the last completed poll read when it started; null before the first. */
  keyStateVersion: number | null = null

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** A call during a poll waits for the next poll, which starts after the call. */
  async pollChanges(): Promise<void> {
    if (this.#polling) await this.#polling.catch(() => undefined)
    this.#polling ??= this.#poll().finally(() => (this.#polling = undefined))
    return this.#polling
  }

  async #poll(): Promise<void> {
    const { db, clock, cache } = this.#deps
    const sentAt = clock.monotonic()
    cache.discardPendingReads()
    // Before the changes are read, so that no version is claimed whose change this poll has missed.
    const [databaseNow, issuedAt, keyStateVersion] = await Promise.all([
      db.now(),
      latestIssueTime(db),
      readKeyStateVersion(db),
    ])
    cache.databaseClock.advanceTo(Math.max(databaseNow, issuedAt))
    const since = databaseNow - OVERLAP_MS
    const [versions, tokens] = await Promise.all([
      listVersionsChangedSince(db, since),
      listTokensRevokedSince(db, since),
    ])
    const outdated = versions.filter(({ id, version }) => !cache.confirmKey(id, version, sentAt))
    // Each change is polled for a minute, so whole rows are only read while one of them is new.
    if (outdated.length > 0)
      for (const row of await listKeysChangedSince(db, since)) cache.updateKey(row, sentAt)
    for (const { digest } of tokens) cache.markRevoked(digest)
    cache.confirm(sentAt)
    this.keyStateVersion = keyStateVersion
  }
}
