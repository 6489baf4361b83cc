import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/index.ts'
import {
  type ApiKeyRow,
  findApiKey,
  findApiKeyByAppId,
  listKeysChangedSince,
  listVersionsChangedSince,
} from '../api-keys/index.ts'
import { Coalesced } from './coalesced.ts'
import { type KnownKey, knownKey } from './known-key.ts'
import { SameText } from './same-text.ts'
import { StoreClock } from './store-clock.ts'
import { findTokens, latestIssueTime, listTokensRevokedSince, type TokenRow } from './token.store.ts'
import { mapKeyOfDigest, type TokenName } from './token.ts'
import { TwoGenerations } from './two-generations.ts'

/** A transaction that began earlier may commit later: every look reads this far back again, where a cursor would skip it. */
const OVERLAP_MS = 60_000
/** Nothing is vouched for longer than this after it was last confirmed: half of the minute that the specification allows. */
const TRUST_MS = 30_000
/** Keys are few; a project may have many tokens per key, seldom many keys. */
const KEYS_KEPT = 20_000

/** A token as it is held in memory: no more than a verdict needs, since there are many. */
export interface KnownToken {
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
  readonly tokensKept: number
}

/**
 * What this process remembers of tokens and keys, and how it stays true. A look every second (and at every wake-up)
 * reads what changed lately; an entry counts while the last look and its own reading are younger than 30 s; otherwise
 * the store must answer. A lower version of a key never replaces a higher one.
 */
export class Memory {
  readonly storeClock: StoreClock
  readonly #deps: Deps
  readonly #tokens: TwoGenerations<KnownToken>
  readonly #keys = new TwoGenerations<KnownKey>(KEYS_KEPT)
  readonly #keyIdsByAppId = new TwoGenerations<string>(KEYS_KEPT)
  readonly #tokenReads: Coalesced<TokenName, TokenRow | undefined>
  readonly #keyReads: Coalesced<{ projectId: string; id: string }, ApiKeyRow | undefined>
  readonly #appIdReads: Coalesced<string, ApiKeyRow | undefined>
  readonly #texts = new SameText()
  #lookSentAt = Number.NEGATIVE_INFINITY
  /** Raised by whatever may make a reading that is under way outdated. */
  #generation = 0
  #looking: Promise<void> | undefined
  hits = 0
  misses = 0

  constructor(deps: Deps) {
    this.#deps = deps
    this.storeClock = new StoreClock(deps.clock)
    this.#tokens = new TwoGenerations(deps.tokensKept)
    this.#tokenReads = new Coalesced((names) => readTokens(deps.db, names))
    this.#keyReads = new Coalesced((ids) =>
      Promise.all(ids.map(({ projectId, id }) => findApiKey(deps.db, projectId, id))),
    )
    this.#appIdReads = new Coalesced((ids) => Promise.all(ids.map((id) => findApiKeyByAppId(deps.db, id))))
  }

  get tokensHeld(): number {
    return this.#tokens.size
  }

  get lookAgeSeconds(): number | undefined {
    return Number.isFinite(this.#lookSentAt)
      ? (this.#deps.clock.monotonic() - this.#lookSentAt) / 1000
      : undefined
  }

  /** Counted from when the query was sent: what happened while it was under way is not yet known. */
  #trusts(readAt: number): boolean {
    const oldest = this.#deps.clock.monotonic() - TRUST_MS
    return readAt > oldest && this.#lookSentAt > oldest
  }

  /** Reads what changed lately. Whoever comes while one is under way waits for the next, which began after they asked. */
  async look(): Promise<void> {
    if (this.#looking) await this.#looking.catch(() => undefined)
    this.#looking ??= this.#lookNow().finally(() => (this.#looking = undefined))
    return this.#looking
  }

  async #lookNow(): Promise<void> {
    const { db, clock } = this.#deps
    const sentAt = clock.monotonic()
    this.#generation++
    const [storeNow, issuedAt] = await Promise.all([db.now(), latestIssueTime(db)])
    this.storeClock.follow(Math.max(storeNow, issuedAt))
    const since = storeNow - OVERLAP_MS
    const [versions, tokens] = await Promise.all([
      listVersionsChangedSince(db, since),
      listTokensRevokedSince(db, since),
    ])
    let isNews = false
    for (const { id, version } of versions) {
      const known = this.#keys.get(id)
      if (known?.row.version === version) this.rememberKey(known.row, sentAt)
      else isNews ||= known !== undefined
    }
    // For a minute each change is looked at every second: all of it only where it is not known yet.
    if (isNews)
      for (const row of await listKeysChangedSince(db, since))
        if (this.#keys.get(row.id)) this.rememberKey(row, sentAt)
    for (const row of tokens) this.forgetToken(row.digest)
    this.#lookSentAt = sentAt
  }

  /** The token as memory has it, if memory may speak for it. */
  knownToken(mapKey: string): KnownToken | undefined {
    const known = this.#tokens.get(mapKey)
    if (!known || !(known.revoked || this.#trusts(known.readAt))) return undefined
    this.hits++
    return known
  }

  /** The token from the store; undefined where there is none. Throws where nobody can tell. */
  async freshToken(name: TokenName, mapKey: string): Promise<KnownToken | undefined> {
    this.misses++
    const [readAt, generation] = [this.#deps.clock.monotonic(), this.#generation]
    const row = await this.#tokenReads.get(mapKey, name)
    if (!row) return void this.#tokens.delete(mapKey)
    const token = this.#slim(row, readAt)
    // A reading that began before the latest look, or before a revocation, may be older than what is known by now.
    if (generation === this.#generation) this.#tokens.set(mapKey, token)
    return token
  }

  /** Its ids are those of a key in memory, so each is there once already. */
  rememberIssued(mapKey: string, issued: Omit<KnownToken, 'revoked' | 'readAt'>): void {
    const { projectId, keyId, epoch, expiresAt } = issued
    const [scope, readAt] = [this.#texts.of(issued.scope), this.#deps.clock.monotonic()]
    this.#tokens.set(mapKey, { projectId, keyId, epoch, scope, expiresAt, revoked: false, readAt })
  }

  /** Ids and scopes recur: the same text is held once, not once per token. */
  #slim(row: TokenRow, readAt: number): KnownToken {
    return {
      projectId: this.#texts.of(row.project_id),
      keyId: this.#texts.of(row.key_id),
      epoch: row.epoch,
      scope: this.#texts.of(row.scope),
      expiresAt: row.expires_at,
      revoked: row.revoked_at !== null,
      readAt,
    }
  }

  forgetToken(digest: Uint8Array): void {
    const known = this.#tokens.get(mapKeyOfDigest(digest))
    if (known) known.revoked = true
    // It may be on its way from the store, as it was before.
    else this.#generation++
  }

  /**
   * The key as memory has it, unless a token of this epoch shows that the store has a newer one: with a lower epoch it is
   * older than the token; and blocked at the very same epoch too, since blocking raises it, so the token was issued after
   * an unblocking.
   */
  knownKey(id: string, epochOfToken = 0): KnownKey | undefined {
    const known = this.#keys.get(id)
    if (!known || !this.#trusts(known.readAt)) return undefined
    const { epoch, state } = known.row
    const isOlder = epoch < epochOfToken || (epoch === epochOfToken && state !== 'active')
    return isOlder ? undefined : known
  }

  /** From the store: before anyone is refused for what memory says of a key. */
  async freshKey(projectId: string, id: string): Promise<KnownKey | undefined> {
    const readAt = this.#deps.clock.monotonic()
    const row = await this.#keyReads.get(id, { projectId, id })
    return row && this.rememberKey(row, readAt)
  }

  knownKeyByAppId(appId: string): KnownKey | undefined {
    const id = this.#keyIdsByAppId.get(appId)
    return id === undefined ? undefined : this.knownKey(id)
  }

  async freshKeyByAppId(appId: string): Promise<KnownKey | undefined> {
    const readAt = this.#deps.clock.monotonic()
    const row = await this.#appIdReads.get(appId, appId)
    return row && this.rememberKey(row, readAt)
  }

  rememberKey(row: ApiKeyRow, readAt = this.#deps.clock.monotonic()): KnownKey {
    const known = this.#keys.get(row.id)
    if (known && known.row.version > row.version) return known
    const key =
      known?.row.version === row.version
        ? { ...known, readAt: Math.max(known.readAt, readAt) }
        : knownKey(row, readAt)
    this.#keys.set(row.id, key)
    this.#keyIdsByAppId.set(row.app_id, row.id)
    return key
  }

  forgetProject(projectId: string): void {
    for (const { row } of [...this.#keys.values()])
      if (row.project_id === projectId) this.#keys.delete(row.id)
  }
}

async function readTokens(db: Database, names: readonly TokenName[]): Promise<(TokenRow | undefined)[]> {
  const rows = await findTokens(db, names)
  const found = new Map(rows.map((row) => [mapKeyOfDigest(row.digest), row]))
  return names.map(({ projectId, digest }) => {
    const row = found.get(mapKeyOfDigest(digest))
    return row?.project_id === projectId ? row : undefined
  })
}
